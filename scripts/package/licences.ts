import { embeddedIn } from './embedded.ts';
import type { Module } from './modules.ts';

const HOLDER = 'the authors named in the files of its folder';

const paragraph = (files: string, copyright: string, licence: string): string =>
  [`Files: ${files}`, `Copyright: ${copyright}`, `License: ${licence}`].join('\n');

/** Words of the npm world for a licence as one name without blanks, as Debian writes them. */
const debianName = (licence: string): string =>
  licence
    .replace(/[()]/g, '')
    .replaceAll(' OR ', ' or ')
    .replaceAll(' AND ', ' and ')
    .replace(/\bMIT\b/g, 'Expat');

/** Licences whose texts every Debian system has, by a word of their names. */
const COMMON = [
  ['GPL-3.0', 'GPL-3'],
  ['Apache-2.0', 'Apache-2.0'],
] as const;

/** Returns the licence of a package including its embedded parts. */
const wholeLicence = ({ name, licence }: Module): string =>
  debianName([licence, ...embeddedIn(name).map((part) => part.licence)].join(' AND '));

/** One text for each licence: where its words are. */
const licenceText = (name: string): string => {
  const common = COMMON.find(([word]) => name.includes(word));
  const place =
    common === undefined
      ? 'The full text is in the licence file of the folders named above; one without such a file names it in its package.json.'
      : `On Debian systems the full text is in /usr/share/common-licenses/${common[1]}.`;
  return [`License: ${name}`, ` ${place}`].join('\n');
};

/** debian/copyright for the package with everything in it, in the machine-readable form 1.0. */
export function copyrightFile(modules: readonly Module[], runtime: Module): string {
  const own = '/usr/lib/svc-gateway';
  const byLicence = new Map<string, string[]>();
  for (const module of modules) {
    const name = wholeLicence(module);
    byLicence.set(name, [...(byLicence.get(name) ?? []), ` ${own.slice(1)}/${module.path}/*`]);
  }
  const names = [
    ...new Set([...byLicence.keys(), 'Apache-2.0', 'Apache-2.0 and Expat and ISC', 'Expat']),
  ].sort();
  return `${[
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: svc-gateway',
    paragraph('*', '2026 the svc-gateway authors', 'Apache-2.0'),
    paragraph(
      `${own.slice(1)}/dist/dashboard/*`,
      '2026 the svc-gateway authors, and those named in dist/dashboard/licences.txt',
      'Apache-2.0 and Expat and ISC',
    ),
    paragraph(`${own.slice(1)}/bin/node`, `${HOLDER} (Node.js ${runtime.version})`, 'Expat'),
    ...[...byLicence].map(([licence, paths]) => paragraph(`\n${paths.sort().join('\n')}`, HOLDER, licence)),
    ...names.map(licenceText),
  ].join('\n\n')}\n`;
}
