/** What clients send for "find out", and what a response says about an unknown language. */
const AUTO: ReadonlySet<string> = new Set(['auto', 'detect', 'und', 'unknown']);

/** Whisper's own names and common codes that differ from those of Unicode. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  castilian: 'es',
  cmn: 'zh',
  fil: 'tl',
  flemish: 'nl',
  haitian: 'ht',
  iw: 'he',
  jv: 'jw',
  letzeburgesch: 'lb',
  mandarin: 'zh',
  moldavian: 'ro',
  moldovan: 'ro',
  nb: 'no',
  panjabi: 'pa',
  pushto: 'ps',
  sinhalese: 'si',
  valencian: 'ca',
};

const CODE = /^[a-z]{2,3}$/;
const ENGLISH = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/** Returns the name of a language in itself, in lower case, such as `deutsch`; null when unknown. */
const ownName = (code: string): string | null =>
  new Intl.DisplayNames([code], { type: 'language', fallback: 'none' }).of(code)?.toLowerCase() ?? null;

/** Returns the shortest code of a language, for example `de` for `deu`. */
function canonical(code: string): string {
  try {
    return new Intl.Locale(code).language;
  } catch {
    return code;
  }
}

/**
 * Returns the code of the requested language among those that a model knows: by its code of two or three
 * letters with or without a region, by its English name, or by its name in itself. Null for automatic
 * detection. Undefined when the model does not know it. Pure.
 */
export function languageCode(requested: string, known: readonly string[]): string | null | undefined {
  const text = requested.trim().toLowerCase();
  if (text === '' || known.includes(text)) return text || null;
  if (AUTO.has(text)) return null;
  const base = text.split(/[-_]/)[0] ?? '';
  const candidates = [base, canonical(base), OTHER_NAMES[base], OTHER_NAMES[text]];
  const code = known.find((each) => candidates.includes(each));
  if (code !== undefined) return code;
  const codes = known.filter((each) => CODE.test(each));
  return codes.find((each) => ENGLISH.of(each)?.toLowerCase() === text || ownName(each) === text);
}
