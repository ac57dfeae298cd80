import { readFile } from 'node:fs/promises';

/** Where a distribution says what it is, the one that counts first (man os-release). */
const FILES = ['/etc/os-release', '/usr/lib/os-release'] as const;

/** A value as a shell would read it: without its quotes, and what they protect. */
function plain(value: string): string {
  const text = value.trim();
  const quoted = /^(["'])(.*)\1$/.exec(text);
  return quoted ? (quoted[2] ?? '').replace(/\\(["'$`\\])/g, '$1') : text;
}

/** Name and version of the system, such as `Debian GNU/Linux 12`, from the text of an os-release; null without a name. */
export function osName(text: string): string | null {
  const values = new Map(
    text.split('\n').flatMap((line) => {
      const [, key = '', value = ''] = /^\s*([A-Z_]+)=(.*)$/.exec(line) ?? [];
      return key === '' ? [] : [[key, plain(value)]];
    }),
  );
  const name = values.get('NAME') ?? '';
  return name === '' ? null : `${name} ${values.get('VERSION_ID') ?? ''}`.trim();
}

/** The same of this machine; null where no file says it. Never throws. */
export async function readOsName(files: readonly string[] = FILES): Promise<string | null> {
  for (const file of files) {
    const name = osName(await readFile(file, 'utf8').catch(() => ''));
    if (name !== null) return name;
  }
  return null;
}
