// What the page does without the server: a slider shows its value while it moves.
document.addEventListener("input", (event) => {
  const slider = event.target;
  if (slider.type !== "range") return;
  const shown = document.querySelector(`output[for="${slider.id}"]`);
  if (shown) shown.value = slider.value;
});
