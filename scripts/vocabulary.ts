/** A term of the old dialect of this project, and what to write instead. */
export interface Term {
  /** Whole words, as a regular expression without flags. */
  readonly pattern: string;
  readonly instead: string;
}

/** Terms that identifiers, comments and texts of the code must not have. docs/glossary.md has the terms to use. */
export const TERMS: readonly Term[] = [
  { pattern: '(MOST|LEAST|LONGEST|SHORTEST)_[A-Z0-9_]+', instead: 'MAX_… or MIN_…, with the unit' },
  { pattern: 'letGo\\w*', instead: 'release, detach or shutDown' },
  { pattern: 'goneOn|wentOn|goOn', instead: 'resumed, failedOver, resume' },
  { pattern: 'takeIn', instead: 'accept' },
  { pattern: 'mishap', instead: 'error boundary' },
  { pattern: 'Turnstile', instead: 'Semaphore' },
  { pattern: 'Patience', instead: 'MountGuard' },
  { pattern: 'Blotter', instead: 'StreamRedactor' },
  { pattern: 'CallerLeft', instead: 'ClientDisconnected' },
  { pattern: 'Announcer', instead: 'ChangeNotifier' },
  { pattern: 'SignOfLife', instead: 'LivenessProbe' },
  { pattern: 'OwnTime', instead: 'OverheadTimer' },
  { pattern: 'StreamDoor', instead: 'SseEndpoint' },
  { pattern: 'GatheredBytes', instead: 'BodyBuffer' },
  { pattern: 'SlotGlance', instead: 'SlotView' },
  { pattern: 'for ever', instead: 'forever, or the limit' },
  { pattern: 'the law', instead: 'the specification' },
  { pattern: 'comes back to', instead: 'returns to' },
  { pattern: 'lies there', instead: 'exists' },
];

export interface SourceText {
  readonly path: string;
  readonly text: string;
}

const TESTERS = TERMS.map(({ pattern, instead }) => ({
  regexp: new RegExp(`(?<![\\w-])(?:${pattern})(?![\\w-])`),
  instead,
}));

/** Returns each use of a term as `path:line: "term": write …`. */
export function vocabularyFindings(files: readonly SourceText[]): string[] {
  const findings: string[] = [];
  for (const { path, text } of files) {
    for (const [index, line] of text.split('\n').entries()) {
      for (const { regexp, instead } of TESTERS) {
        const found = regexp.exec(line)?.[0];
        if (found !== undefined) findings.push(`${path}:${index + 1}: "${found}": write ${instead}`);
      }
    }
  }
  return findings;
}
