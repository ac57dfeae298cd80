import { readFile } from 'node:fs/promises';

/** Files that describe the distribution, in order of priority (man os-release). */
const FILES = ['/etc/os-release', '/usr/lib/os-release'] as const;

/** Unquotes a value as a shell would. */
function plain(value: string): string {
  const text = value.trim();
  const quoted = /^(["'])(.*)\1$/.exec(text);
  return quoted ? (quoted[2] ?? '').replace(/\\(["'$`\\])/g, '$1') : text;
}

/**
 * Returns name and version of the system, such as `Debian GNU/Linux 12`, from the text of an os-release file.
 * Null without a name.
 */
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

/** Returns name and version of this machine's system. Null when no file contains it. Never throws. */
export async function readOsName(files: readonly string[] = FILES): Promise<string | null> {
  for (const file of files) {
    const name = osName(await readFile(file, 'utf8').catch(() => ''));
    if (name !== null) return name;
  }
  return null;
}
