// A worker in Go that knows nothing of Mnestic: its activities are tools of a plan.
//
// Usage: worker ADDRESS NAMESPACE TASK_QUEUE
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
)

type order struct {
	ID    string  `json:"id"`
	Lines []line  `json:"lines"`
	Rate  float64 `json:"rate"`
}

type line struct {
	SKU   string  `json:"sku"`
	Price float64 `json:"price"`
	Count int     `json:"count"`
}

type quote struct {
	OrderID string  `json:"orderId"`
	Total   float64 `json:"total"`
	Runtime string  `json:"runtime"`
}

// price adds up an order.
func price(_ context.Context, asked order) (quote, error) {
	total := 0.0
	for _, each := range asked.Lines {
		total += each.Price * float64(each.Count)
	}
	return quote{OrderID: asked.ID, Total: total * (1 + asked.Rate), Runtime: "go"}, nil
}

// ping takes and gives nothing.
func ping(context.Context) error { return nil }

// silent gives no heartbeat at its first attempt; at the next it gives some, for longer than their timeout.
func silent(ctx context.Context) (int32, error) {
	attempt := activity.GetInfo(ctx).Attempt
	if attempt == 1 {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	for range 15 {
		activity.RecordHeartbeat(ctx, attempt)
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return attempt, nil
}

// refuse fails for good.
func refuse(_ context.Context, number string) error {
	return temporal.NewNonRetryableApplicationError("card "+number+" is blocked", "CardBlocked", nil)
}

// busy fails twice, and returns the attempt that did not.
func busy(ctx context.Context) (int32, error) {
	attempt := activity.GetInfo(ctx).Attempt
	if attempt < 3 {
		return 0, temporal.NewApplicationError("the till is busy", "TillBusy")
	}
	return attempt, nil
}

// jam fails as Go does by itself, with an error that has no type.
func jam(context.Context) error { return errors.New("the printer is jammed") }

type report struct {
	Text string `json:"text"`
	Rows []line `json:"rows"`
}

// statement is of about so many bytes.
func statement(_ context.Context, size int) (report, error) {
	rows := []line{{SKU: "é😀", Price: 0.1, Count: 1 << 53}, {SKU: "b", Price: 1e22}}
	return report{Text: strings.Repeat("x", size), Rows: rows}, nil
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: worker ADDRESS NAMESPACE TASK_QUEUE")
	}
	connection, err := client.Dial(client.Options{HostPort: os.Args[1], Namespace: os.Args[2]})
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	tools := worker.New(connection, os.Args[3], worker.Options{DisableWorkflowWorker: true})
	for name, tool := range map[string]any{
		"go.price": price, "go.ping": ping, "go.silent": silent,
		"go.refuse": refuse, "go.busy": busy, "go.jam": jam, "go.statement": statement,
	} {
		tools.RegisterActivityWithOptions(tool, activity.RegisterOptions{Name: name})
	}
	if err := tools.Run(worker.InterruptCh()); err != nil {
		log.Fatal(err)
	}
}
