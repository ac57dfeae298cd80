/** Sets the chosen theme before the first paint. Stands alone on purpose: it is loaded as a classic script. */
try {
  const chosen = localStorage.getItem('svc.theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is switched off in this browser: the theme of the system applies.
}
