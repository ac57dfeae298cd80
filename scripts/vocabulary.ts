/** A term that is not plain technical English, and what to write instead. */
export interface Term {
  /** A regular expression without flags: for `name` one word in lower case, for `text` whole words of a line. */
  readonly pattern: string;
  /**
   * Where the term is searched. `name`: the words of each identifier and file name, split as in `toldEvents` or
   * `told-events`. `text`: every line, comments and texts included.
   */
  readonly kind: 'name' | 'text';
  readonly instead: string;
}

const name = (pattern: string, instead: string): Term => ({ pattern, kind: 'name', instead });
const text = (pattern: string, instead: string): Term => ({ pattern, kind: 'text', instead });

/** Terms that identifiers, file names, comments and texts must not have. docs/glossary.md has the terms to use. */
export const TERMS: readonly Term[] = [
  text('(MOST|LEAST|LONGEST|SHORTEST)_[A-Z0-9_]+', 'MAX_… or MIN_…, with the unit'),
  text('letGo\\w*', 'release, detach or shutDown'),
  text('goneOn|wentOn|goOn', 'resumed, failedOver, resume'),
  text('takeIn', 'accept'),
  text('Patience', 'MountGuard'),
  text('OwnTime', 'OverheadTimer'),
  text('SlotGlance', 'SlotView'),
  text('for ever', 'forever, or the limit'),
  text('the law', 'the specification'),
  text('comes back to', 'returns to'),
  text('lies there', 'exists'),
  name('mishaps?', 'error, error boundary'),
  name('turnstiles?', 'semaphore'),
  name('blotters?', 'stream redactor'),
  name('announcers?', 'change notifier'),
  name('anew', 'again'),
  name('tellers?', 'emitter'),
  name('aftermath', 'lifecycle handlers'),
  name('repertoire', 'available models'),
  name('lockstep', 'decode barrier'),
  name('hopeless', 'fatal'),
  name('untold', 'unknown'),
  name('foresee|outlook', 'preview, plan'),
  text('the like of|as long as it lives', 'such as, while it runs'),
  text('CallerLeft', 'ClientDisconnected'),
  text('SignOfLife', 'LivenessProbe'),
  text('StreamDoor', 'SseEndpoint'),
  text('GatheredBytes', 'BodyBuffer'),
  name('told|tells?', 'emit, notify, report, or what the value is: event, message, output'),
  name('kept', 'cached, retained, stored'),
  name('asked|asks?|askers?', 'request, query, send'),
  name('said|says?', 'message, output, text'),
  name('seen|saw', 'observed, known, or what the value is'),
  name('begun', 'started, startedAt'),
  name('given', 'what the value is: input, args, options'),
  name('gone', 'removed, ended, disconnected'),
  name('looks?|looked', 'read, inspect, status'),
  name('heard|hears?', 'received, subscribers'),
  name('learnt?|learned', 'record, discover'),
  name('pictures?', 'image; or snapshot, status, view'),
  name('beside', 'reservations, siblings, side load'),
  name('rooms?', 'headroom, capacity'),
  name('nobody|somebody|whoever|everybody', 'the actor: client, caller, user'),
  name('lent|lend', 'lease, borrowed'),
  name('doors?', 'endpoint, listener, gate'),
  name('strangers?', 'unknown, untrusted'),
  name('leavers?', 'disconnecting client'),
  // The account `nobody:x:…` of /etc/passwd is allowed.
  text('[Nn]obody(?!:x:)|[Ss]omebody|[Ww]hoever|[Ee]verybody', 'the actor: no client, a caller, the user'),
  text('[Aa]new', 'again'),
  text('on (its|their) way', 'in transit, loading, in flight'),
  text('in (its|their) place', 'instead'),
  text('is told|are told|was told|were told', 'is notified, receives'),
  text('is asked|are asked|was asked|were asked|asked for', 'receives a request, requested'),
  text('a stranger|strangers', 'an untrusted client'),
  text('at the door|the door', 'the HTTP layer'),
  text('the house', 'the project, the daemon'),
  text('mended|mends', 'fixed, fixes'),
  text('turned away', 'refused'),
  text('who comes|who waits|who leaves|who asks', 'the caller that …'),
];

/** A name with such a word that an API, a file format or a library defines. */
interface WireName {
  readonly reason: string;
  /** Starts of the paths where the name is allowed; everywhere when absent. */
  readonly paths?: readonly string[];
}

export const WIRE_NAMES: Readonly<Record<string, WireName>> = {
  last_seen: { reason: 'column and field of sessions and models in the API' },
  first_seen: { reason: 'field of models in the API' },
  real_model_seen: { reason: 'key in the state database' },
  kept_free: { reason: 'field of memory pools in the API' },
  disk_kept_bytes: { reason: 'setting' },
  no_room: { reason: 'reason in the setup API' },
  kept: { reason: 'field of the report of restore --json', paths: ['daemon/backup/', 'daemon/commands/'] },
  asked: {
    reason: 'field and column of the request log, and a detail of the audit log',
    paths: [
      'daemon/contract/',
      'daemon/store/',
      'daemon/telemetry/',
      'daemon/inference/',
      'daemon/auth/auth.ts',
      'daemon/cli/commands/requests.ts',
      'daemon/test/records.test.ts',
      'dashboard/features/requests/',
      'dashboard/features/security/',
      'e2e/requests.spec.ts',
    ],
  },
};

export interface SourceText {
  readonly path: string;
  readonly text: string;
}

const IDENTIFIER = /[A-Za-z_$][\w$]*/g;

/** Returns the words of an identifier or file name in lower case. */
export const wordsOf = (identifier: string): string[] =>
  identifier
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');

/**
 * Returns a line without comments and texts. Line by line, so a template literal over several lines counts as
 * code; such lines rarely hold these words.
 */
const codeOf = (line: string): string =>
  /^\s*(\/\/|\/?\*)/.test(line)
    ? ''
    : line
        .replace(
          /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\/(?![*/ ])(?:[^/\\\n]|\\.)+\/[dgimsuvy]*/g,
          "''",
        )
        .replace(/\/\/.*$|\/\*.*$/, '');

interface Tester {
  readonly regexp: RegExp;
  readonly kind: Term['kind'];
  readonly instead: string;
}

const testerOf = ({ pattern, kind, instead }: Term): Tester => ({
  regexp:
    kind === 'name' ? new RegExp(`^(?:${pattern})$`) : new RegExp(`(?<![\\w-])(?:${pattern})(?![\\w-])`),
  kind,
  instead,
});

const isCode = (path: string): boolean => /\.(ts|tsx|mts|mjs|cjs)$/.test(path);

function isWireName(identifier: string, path: string): boolean {
  const found = Object.hasOwn(WIRE_NAMES, identifier) ? WIRE_NAMES[identifier] : undefined;
  if (found === undefined) return false;
  return found.paths === undefined || found.paths.some((start) => path.startsWith(start));
}

const namesIn = (code: string, path: string): string[] =>
  (code.match(IDENTIFIER) ?? []).filter((identifier) => !isWireName(identifier, path));

/** Returns each use of a term as `path:line: "term": write …`. A file name counts as line 0. */
export function vocabularyFindings(files: readonly SourceText[], terms: readonly Term[] = TERMS): string[] {
  const testers = terms.map(testerOf);
  const byName = testers.filter(({ kind }) => kind === 'name');
  const byText = testers.filter(({ kind }) => kind === 'text');
  const findings: string[] = [];
  const checkNames = (where: string, names: readonly string[]): void => {
    for (const found of names)
      for (const word of wordsOf(found))
        for (const { regexp, instead } of byName)
          if (regexp.test(word)) findings.push(`${where}: "${found}": write ${instead}`);
  };
  for (const { path, text: content } of files) {
    checkNames(`${path}:0`, [path.slice(path.lastIndexOf('/') + 1)]);
    for (const [index, line] of content.split('\n').entries()) {
      const where = `${path}:${index + 1}`;
      for (const { regexp, instead } of byText) {
        const found = regexp.exec(line)?.[0];
        if (found !== undefined) findings.push(`${where}: "${found}": write ${instead}`);
      }
      if (isCode(path)) checkNames(where, namesIn(codeOf(line), path));
    }
  }
  return findings;
}
