// Runs before the first paint, so that nobody is blinded by the wrong theme.
(function () {
  var theme = 'system';
  try {
    theme = localStorage.getItem('rimewatch.theme') || 'system';
  } catch (e) {
    // Storage may be forbidden: then the system's theme it is.
  }
  var dark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'rime-dark' : 'rime-light';
})();
