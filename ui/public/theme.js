// Runs before the first paint, so that the chosen theme and the height of rows are there from the start.
(() => {
  try {
    const { theme, dense } = JSON.parse(localStorage.getItem('tocsin.preferences') ?? '{}');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
    document.documentElement.toggleAttribute('data-dense', dense === true);
  } catch {
    // Storage is closed or holds something else: the system's theme applies.
  }
})();
