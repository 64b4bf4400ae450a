// Has the pages follow the theme that was chosen in the product; without one, the system's.
try {
  const theme = localStorage.getItem('rimewatch.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden.
}
