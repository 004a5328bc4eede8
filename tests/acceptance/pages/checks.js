// What is wrong with a page, each as a function: controls without a name, how much wider it is than its window, and texts that are
// faint. The contrast of text with what is behind it, by WCAG 2: at least 4.5 to 1.
({
  nameless: () => [...document.querySelectorAll('a,button,input:not([type=hidden]),select,textarea')]
    .filter((one) => !(one.labels?.length || one.getAttribute('aria-label') || one.textContent.trim()))
    .map((one) => one.outerHTML),
  too_wide: () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  faint: () => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgb = (color) => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
        return canvas.getImageData(0, 0, 1, 1).data;
    };
    const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
        .map((one) => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
        .reduce((sum, one, n) => sum + one * [0.2126, 0.7152, 0.0722][n], 0);
    const behind = (one) => {
        for (; one; one = one.parentElement) {
            const color = rgb(getComputedStyle(one).backgroundColor);
            if (color[3] === 255) return color;
        }
        return [255, 255, 255];
    };
    return [...document.querySelectorAll('main *, header *')]
        .filter((one) => [...one.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
        .filter((one) => one.checkVisibility() && !one.closest('.hidden, svg, option'))
        .map((one) => {
            const [a, b] = [light(rgb(getComputedStyle(one).color)), light(behind(one))];
            return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), one.outerHTML.slice(0, 120)];
        })
        .filter(([ratio]) => ratio < 4.5);
},
})
