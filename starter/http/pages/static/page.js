// What the page does without the server: a slider shows its value while it moves, or the date that it stands for.
document.addEventListener("input", (event) => {
  const slider = event.target;
  if (slider.type !== "range") return;
  const shown = document.querySelector(`output[for="${slider.id}"]`);
  if (shown) shown.value = slider.value;
  const field = document.getElementById(slider.dataset.date);
  if (field) field.value = daysBefore(slider.dataset.today, slider.value);
});

// Escape brings back the value that is stored.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") event.target.closest?.("form.inline")?.reset();
});

// A stream that does not go on since the key no longer holds: the page leads to signing in.
document.addEventListener("htmx:sse:error", (event) => {
  if (event.detail.status === 401) location.reload();
});

function daysBefore(today, days) {
  const date = new Date(`${today}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - Number(days));
  return date.toISOString().slice(0, 10);
}
