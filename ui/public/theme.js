// Runs before the first paint, so that the chosen theme is there from the start.
(() => {
  try {
    const theme = JSON.parse(localStorage.getItem('tocsin.preferences') ?? '{}').theme;
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is closed or holds something else: the system's theme applies.
  }
})();
