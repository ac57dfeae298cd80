/** Machine-readable output: one JSON value and a newline. */
export const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Removes control characters other than line feed and tab, so that a text cannot control the terminal. */
export const plain = (text: string): string => text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '');
