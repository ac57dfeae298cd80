/** Text that means itself in a manual page. */
export const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\(rs')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

/** A paragraph with a term before it. */
export const term = (name: string, text: string): string => `.TP\n.B ${roff(name)}\n${roff(text)}`;

export const section = (title: string, ...parts: readonly string[]): string =>
  [`.SH ${title.toUpperCase()}`, ...parts].join('\n');

export interface Page {
  name: string;
  /** Section of the manual. */
  part: number;
  version: string;
  /** Unix seconds. */
  date: number;
}

/** A whole page. */
export function page({ name, part, version, date }: Page, sections: readonly string[]): string {
  const day = new Date(date * 1000).toISOString().slice(0, 10);
  return `.TH ${name.toUpperCase()} ${part} ${day} "svc\\-gateway ${roff(version)}"\n${sections.join('\n')}\n`;
}
