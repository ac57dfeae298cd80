/** Returns the English name of a language tag; any other text unchanged. */
export function languageName(language: string): string {
  if (!/^[A-Za-z]{2,3}(-[A-Za-z0-9]+)*$/.test(language)) return language;
  try {
    return new Intl.DisplayNames(['en'], { type: 'language' }).of(language) ?? language;
  } catch {
    return language;
  }
}
