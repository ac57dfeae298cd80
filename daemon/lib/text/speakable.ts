/** Returns whether a text contains anything to speak: a letter or a digit of any script. */
export const speakable = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);
