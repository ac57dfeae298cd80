/**
 * States of the parser for systemd's `EnvironmentFile=` format. It works on latin1 text, where one character
 * is one byte. Variables are not expanded.
 */
export type ScanState =
  | 'preKey'
  | 'key'
  | 'preValue'
  | 'value'
  | 'valueEscape'
  | 'single'
  | 'double'
  | 'doubleEscape'
  | 'comment'
  | 'commentEscape';

/** One `NAME=value` in the text, including those that systemd ignores because of the name. */
export interface Assignment {
  name: string;
  value: string;
  /** Offset of the first character of the name. */
  start: number;
  /** Offset after the equals sign. */
  valueStart: number;
  /** Offset of the line end that closes the value, or the length of the text. */
  valueEnd: number;
}

export interface Scan {
  assignments: Assignment[];
  /** Offsets of lines without an equals sign. */
  stray: number[];
  /** State at the end of the text. Anything but preKey means that the last line is open. */
  end: ScanState;
}

/**
 * `commentContinues`: whether a backslash at the end of a comment continues it on the next line. systemd did
 * so before version 254.
 */
export interface Dialect {
  commentContinues: boolean;
}

const isSpace = (c: string) => c === ' ' || c === '\t' || c === '\n' || c === '\r';
const isNewline = (c: string) => c === '\n' || c === '\r';
/** Characters that are unescaped within double quotes. */
const UNESCAPED = '"\\`$';

interface Machine {
  key: string;
  value: string;
  /** Length of `value` without unquoted blanks at its end. -1 when there are none. */
  blanksFrom: number;
  at: number;
  start: number;
  valueStart: number;
  scan: Scan;
  dialect: Dialect;
}

type Step = (m: Machine, c: string) => ScanState;

function push(m: Machine, end: number): ScanState {
  const name = m.key.replace(/[ \t]+$/, '');
  m.scan.assignments.push({
    name,
    value: m.value,
    start: m.start,
    valueStart: m.valueStart,
    valueEnd: end,
  });
  return 'preKey';
}

/** Ends an unquoted value and removes trailing blanks. */
function pushTrimmed(m: Machine, end: number): ScanState {
  if (m.blanksFrom >= 0) m.value = m.value.slice(0, m.blanksFrom);
  return push(m, end);
}

const add = (m: Machine, text: string, state: ScanState): ScanState => {
  m.value += text;
  return state;
};

const STEPS: Record<ScanState, Step> = {
  preKey(m, c) {
    if (c === '#' || c === ';') return 'comment';
    if (isSpace(c)) return 'preKey';
    m.key = c;
    m.start = m.at;
    return 'key';
  },
  key(m, c) {
    if (isNewline(c)) {
      m.scan.stray.push(m.start);
      return 'preKey';
    }
    if (c !== '=') {
      m.key += c;
      return 'key';
    }
    m.value = '';
    m.blanksFrom = -1;
    m.valueStart = m.at + 1;
    return 'preValue';
  },
  preValue(m, c) {
    if (isNewline(c)) return push(m, m.at);
    if (c === "'") return 'single';
    if (c === '"') return 'double';
    if (c === '\\') return 'valueEscape';
    return isSpace(c) ? 'preValue' : add(m, c, 'value');
  },
  value(m, c) {
    if (isNewline(c)) return pushTrimmed(m, m.at);
    if (c === '\\') {
      m.blanksFrom = -1;
      return 'valueEscape';
    }
    if (!isSpace(c)) m.blanksFrom = -1;
    else if (m.blanksFrom < 0) m.blanksFrom = m.value.length;
    return add(m, c, 'value');
  },
  valueEscape: (m, c) => (isNewline(c) ? 'value' : add(m, c, 'value')),
  single: (m, c) => (c === "'" ? 'preValue' : add(m, c, 'single')),
  double(m, c) {
    if (c === '"') return 'preValue';
    return c === '\\' ? 'doubleEscape' : add(m, c, 'double');
  },
  doubleEscape(m, c) {
    if (c === '\n') return 'double';
    return add(m, UNESCAPED.includes(c) ? c : `\\${c}`, 'double');
  },
  comment(_m, c) {
    if (c === '\\') return 'commentEscape';
    return isNewline(c) ? 'preKey' : 'comment';
  },
  commentEscape: (m, c) => (isNewline(c) && !m.dialect.commentContinues ? 'preKey' : 'comment'),
};

/** A byte order mark as editors write it. systemd reads it as part of the first name, which is then invalid. */
export const BYTE_ORDER_MARK = '\xef\xbb\xbf';

/** Parses the whole text after a byte order mark. Never throws. Linear in its length. */
export function scanEnv(text: string, dialect: Dialect = { commentContinues: false }): Scan {
  const scan: Scan = { assignments: [], stray: [], end: 'preKey' };
  const m: Machine = { key: '', value: '', blanksFrom: -1, at: 0, start: 0, valueStart: 0, scan, dialect };
  let state: ScanState = 'preKey';
  if (text.startsWith(BYTE_ORDER_MARK)) m.at = BYTE_ORDER_MARK.length;
  for (; m.at < text.length; m.at++) state = STEPS[state](m, text[m.at] as string);
  if (state === 'key') scan.stray.push(m.start);
  else if (state === 'value') pushTrimmed(m, text.length);
  else if (!['preKey', 'comment', 'commentEscape'].includes(state)) push(m, text.length);
  scan.end = state;
  return scan;
}
