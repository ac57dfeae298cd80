import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Entry {
  uri: string;
  suites: string[];
  components: string[];
  signedBy: string | null;
}
const { archiveOf, entriesOf, sourcesFile } = (await import(
  pathToFileURL(`${import.meta.dirname}/sources.mjs`).href
)) as {
  entriesOf: (name: string, text: string) => Entry[];
  archiveOf: (entries: Entry[], codename: string) => Entry | null;
  sourcesFile: (entry: Entry, suite: string) => string;
};

const MIRROR = 'http://mirror.example/debian';
const KEYRING = '/usr/share/keyrings/archive.gpg';
const PARAGRAPHS = `Types: deb
# a comment
URIs: http://mirror.example/debian-security
Suites: twelve-security
Components: main

Types: deb deb-src
URIs: ${MIRROR}
Suites: twelve twelve-updates
Components: main contrib
Signed-By: ${KEYRING}

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: twelve
Components: main
`;

describe('the archive in the configuration of apt', () => {
  it('paragraphs: the release itself, with its key, not its security updates', () => {
    expect(archiveOf(entriesOf('a.sources', PARAGRAPHS), 'twelve')).toMatchObject({
      uri: MIRROR,
      signedBy: KEYRING,
    });
  });

  it('a key inside the paragraph is passed on line by line', () => {
    const key =
      'Types: deb\nURIs: x\nSuites: sid\nComponents: main\nSigned-By:\n -----BEGIN-----\n .\n abc\n';
    const [entry] = entriesOf('a.sources', key);
    expect(sourcesFile(entry as Entry, 'next')).toContain('Signed-By: -----BEGIN-----\n .\n abc');
  });

  it.each([
    [`deb ${MIRROR} twelve main`, null],
    [`deb [arch=amd64 signed-by=${KEYRING}] ${MIRROR} twelve main non-free # why`, KEYRING],
    [`deb ${MIRROR} testing main`, null],
  ])('one line: %s', (line, signedBy) => {
    expect(archiveOf(entriesOf('sources.list', `# top\n${line}\n`), 'twelve')).toMatchObject({
      uri: MIRROR,
      signedBy,
    });
  });

  it.each([
    '#deb http://mirror.example/debian twelve main',
    'deb-src http://mirror.example/debian twelve main',
    'deb http://vendor.example/apt vendor-twelve main',
    'deb http://mirror.example/debian twelve-security main',
    'deb http://mirror.example/debian twelve contrib',
  ])('no archive: %s', (line) => {
    expect(archiveOf(entriesOf('sources.list', line), 'twelve')).toBeNull();
  });
});
