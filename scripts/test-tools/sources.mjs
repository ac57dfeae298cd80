// Finds the Debian archive in the apt configuration of this machine. The project contains no address.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One-line style: `deb [signed-by=KEY] URI SUITE COMPONENT…`. */
function fromLine(line) {
  const found = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.+)$/.exec(line.replace(/#.*/, ''));
  if (!found) return [];
  const [, options = '', uri, suite, components] = found;
  const signedBy = /signed-by=(\S+)/.exec(options)?.[1] ?? null;
  return [{ uri, suites: [suite], components: components.trim().split(/\s+/), signedBy }];
}

/** A paragraph of `Field: value` lines. A field may continue in lines that start with a blank. */
function fromParagraph(text) {
  const fields = {};
  let last = '';
  for (const line of text.split('\n').filter((each) => !each.startsWith('#'))) {
    const [, name, value] = /^([A-Za-z-]+):\s*(.*)$/.exec(line) ?? [];
    if (name) last = name.toLowerCase();
    if (last) fields[last] = name ? value : `${fields[last]}\n${line}`;
  }
  const words = (name) => (fields[name] ?? '').split(/\s+/).filter((word) => word !== '');
  if (!words('types').includes('deb') || fields.enabled?.trim() === 'no') return [];
  return words('uris').map((uri) => ({
    uri,
    suites: words('suites'),
    components: words('components'),
    signedBy: fields['signed-by']?.trim() || null,
  }));
}

/** The entries of one file of apt: `{uri, suites, components, signedBy}`. */
export const entriesOf = (name, text) =>
  name.endsWith('.sources')
    ? text.split(/\n\s*\n/).flatMap(fromParagraph)
    : text.split('\n').flatMap(fromLine);

const ROLLING = ['stable', 'testing', 'unstable', 'sid'];

/**
 * Returns the archive of the release `codename` itself, or null: not its security updates or a vendor's
 * archive.
 */
export function archiveOf(entries, codename) {
  const own = (suite) => suite === codename || ROLLING.includes(suite);
  return entries.find(({ suites, components }) => suites.some(own) && components.includes('main')) ?? null;
}

/** Returns the archive of this Debian release, or a sentence that says why there is none. */
export function debianArchive(etc = '/etc') {
  const release = existsSync(join(etc, 'os-release')) ? readFileSync(join(etc, 'os-release'), 'utf8') : '';
  const field = (name) => new RegExp(`^${name}="?([^"\\n]*)"?$`, 'm').exec(release)?.[1] ?? '';
  if (field('ID') !== 'debian') return `this is ${field('ID') || 'an unknown system'}, not Debian`;
  const folder = join(etc, 'apt', 'sources.list.d');
  const files = [
    join(etc, 'apt', 'sources.list'),
    ...(existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []),
  ].filter((path) => /\.(list|sources)$/.test(path) && existsSync(path));
  const entries = files.flatMap((path) => entriesOf(path, readFileSync(path, 'utf8')));
  return archiveOf(entries, field('VERSION_CODENAME')) ?? 'apt has no source for the Debian archive';
}

/** The same archive with other suites, as a file of apt. */
export const sourcesFile = ({ uri, signedBy }, suite) =>
  [
    'Types: deb',
    `URIs: ${uri}`,
    `Suites: ${suite}`,
    'Components: main',
    ...(signedBy ? [`Signed-By: ${signedBy}`] : []),
    '',
  ].join('\n');
