/** For random texts of api.env: what means something in such a file, breaks of lines twice as often. */
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
