/** The characters that both tone models know; each has a pure tone of its own. */
export const TONE_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789.,? ';

/** Samples per second of both tone models. */
export const TONE_RATE = 16_000;
/** Samples of one character at speed 1, and how many of them sound: 120 ms and 50 ms. */
export const TONE_CELL = 1920;
export const TONE_SOUND = 800;

/** Hertz of the character at `index` of the alphabet. */
export const toneHertz = (index: number): number => 500 + 150 * index;
