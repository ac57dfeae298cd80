/** A text file of the repository, with its path from the root. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Folder of the pages that define anchors. */
const SPEC_FOLDER = 'docs/spec/';
const ANCHOR = /<a id="([^"]*)"><\/a>/g;
/** A citation from any file; links between pages of `docs/` leave out `docs/`. */
const CITATION = /\bspec\/([\w-]+\.md)#([\w-]*)/g;
/** A link inside a page of the specification, to the same page or to its neighbor. */
const LINK = /\]\(([\w-]+\.md)?#([\w-]*)\)/g;

/** Citations by section title or number, which no check can follow. */
const PROSE_CITATIONS: readonly RegExp[] = [
  /\b(?:spec|contract):? ["“]/i,
  /\b(?:spec|contract),? sections? \d/i,
  /\bsections? \d+ of the (?:spec|contract|specification)\b/i,
  /\bthe spec\b/i,
  /\b(?:of|in) the contract\b|\bthe contract's\b/i,
];

interface Target {
  readonly page: string;
  readonly anchor: string;
}

const isSpecPage = ({ path }: SourceFile): boolean => path.startsWith(SPEC_FOLDER) && path.endsWith('.md');

const keyOf = ({ page, anchor }: Target): string => `${page}#${anchor}`;

/** Calls `visit` for every line, counted from 1. */
function eachLine({ text }: SourceFile, visit: (line: string, number: number) => void): void {
  for (const [index, line] of text.split('\n').entries()) visit(line, index + 1);
}

function readAnchors(pages: readonly SourceFile[]): { anchors: Set<string>; findings: string[] } {
  const anchors = new Set<string>();
  const findings: string[] = [];
  for (const file of pages) {
    const page = file.path.slice(SPEC_FOLDER.length);
    eachLine(file, (line, number) => {
      for (const [, anchor = ''] of line.matchAll(ANCHOR)) {
        const key = keyOf({ page, anchor });
        if (anchors.has(key)) findings.push(`${file.path}:${number}: anchor "${anchor}" is defined twice`);
        anchors.add(key);
      }
    });
  }
  return { anchors, findings };
}

function targetsIn(line: string, file: SourceFile): Target[] {
  const cited = [...line.matchAll(CITATION)].map(([, page = '', anchor = '']) => ({ page, anchor }));
  if (!isSpecPage(file)) return cited;
  const own = file.path.slice(SPEC_FOLDER.length);
  const linked = [...line.matchAll(LINK)].map(([, page = own, anchor = '']) => ({ page, anchor }));
  return [...cited, ...linked];
}

/**
 * Returns one finding (`path:line: reason`) for each citation of an anchor that does not exist, each anchor
 * that a page defines twice, and each citation in prose. Pages of the specification may use any wording.
 */
export function specFindings(files: readonly SourceFile[]): string[] {
  const { anchors, findings } = readAnchors(files.filter(isSpecPage));
  for (const file of files) {
    const isPage = isSpecPage(file);
    eachLine(file, (line, number) => {
      const place = `${file.path}:${number}`;
      for (const target of targetsIn(line, file)) {
        if (!anchors.has(keyOf(target)))
          findings.push(`${place}: ${SPEC_FOLDER}${keyOf(target)} does not exist`);
      }
      const prose = isPage ? undefined : PROSE_CITATIONS.find((pattern) => pattern.test(line));
      const [words] = prose?.exec(line) ?? [];
      if (words !== undefined)
        findings.push(`${place}: cite an anchor of ${SPEC_FOLDER} instead of "${words.trim()}"`);
    });
  }
  return findings;
}
