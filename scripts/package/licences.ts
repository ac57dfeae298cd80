import type { Module } from './modules.ts';

const HOLDER = 'the authors named in the file LICENSE of its folder';

const paragraph = (files: string, copyright: string, licence: string): string =>
  [`Files: ${files}`, `Copyright: ${copyright}`, `License: ${licence}`].join('\n');

/** Words of the npm world for a licence as one name without blanks, as Debian writes them. */
const debianName = (licence: string): string =>
  licence
    .replace(/[()]/g, '')
    .replaceAll(' OR ', ' or ')
    .replaceAll(' AND ', ' and ')
    .replace(/\bMIT\b/g, 'Expat');

/** One text for each licence: where its words are. */
const licenceText = (name: string): string => {
  const place = name.includes('Apache-2.0')
    ? 'On Debian systems the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.'
    : 'The full text is in the file LICENSE of each folder named above.';
  return [`License: ${name}`, ` ${place}`].join('\n');
};

/** debian/copyright for the package with everything in it, in the machine-readable form 1.0. */
export function copyrightFile(modules: readonly Module[], runtime: Module): string {
  const own = '/usr/lib/svc-gateway';
  const byLicence = new Map<string, string[]>();
  for (const { path, licence } of modules) {
    const name = debianName(licence);
    byLicence.set(name, [...(byLicence.get(name) ?? []), ` ${own.slice(1)}/${path}/*`]);
  }
  const names = [...new Set([...byLicence.keys(), 'Apache-2.0', 'Expat'])].sort();
  return `${[
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: svc-gateway',
    paragraph('*', '2026 the svc-gateway authors', 'Apache-2.0'),
    paragraph(`${own.slice(1)}/bin/node`, `${HOLDER} (Node.js ${runtime.version})`, 'Expat'),
    ...[...byLicence].map(([licence, paths]) => paragraph(`\n${paths.sort().join('\n')}`, HOLDER, licence)),
    ...names.map(licenceText),
  ].join('\n\n')}\n`;
}
