/** The characters of both tone models. Each has its own pure tone. */
export const TONE_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789.,? ';

/** Sample rate of both tone models. */
export const TONE_RATE = 16_000;
/** Samples per character at speed 1, and how many of them are audible: 120 ms and 50 ms. */
export const TONE_CELL = 1920;
export const TONE_SOUND = 800;

/** Frequency in hertz of the character at `index` of the alphabet. */
export const toneHertz = (index: number): number => 500 + 150 * index;
