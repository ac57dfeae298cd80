/** Significant characters of api.env for random texts, with line breaks twice as often. */
export const ENV_MARKS = [
  '=',
  '=',
  '\n',
  '\n',
  '\r\n',
  ' ',
  '\t',
  '"',
  "'",
  '\\',
  '#',
  ';',
  'export ',
  '\\\n',
  '$',
] as const;
