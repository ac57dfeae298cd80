import { expect, test } from 'vitest';
import { espeakVoices, findEspeak, parseEspeakVoices } from './espeak-voices.ts';

/** The start of the output of espeak-ng 1.51. */
const TABLE = `Pty Language       Age/Gender VoiceName          File                 Other Languages
 5  af              --/M      Afrikaans          gmw/af               
 5  bpy             --/M      Bishnupriya_Manipuri inc/bpy              
 2  en-gb           --/M      English_(Great_Britain) gmw/en               (en 2)
 2  en-us           --/M      English_(America)  gmw/en-US            (en 3)
 5  en-us           --/M      Twice              gmw/en-US            
broken line
`;

test('the table of voices', () => {
  expect(parseEspeakVoices(TABLE)).toEqual([
    { id: 'af', name: 'Afrikaans' },
    { id: 'bpy', name: 'Bishnupriya Manipuri' },
    { id: 'en-gb', name: 'English (Great Britain)' },
    { id: 'en-us', name: 'English (America)' },
  ]);
  expect(parseEspeakVoices('')).toEqual([]);
});

test('a machine without the program', async () => {
  expect(await findEspeak('/nowhere:/neither')).toBeNull();
  expect(await espeakVoices('/nowhere/espeak-ng')).toEqual([]);
});

test('the real program has the default voice', async ({ skip }) => {
  const program = await findEspeak();
  if (program === null) return skip('espeak-ng is not installed; its captured table is tested above');
  const voices = await espeakVoices(program);
  expect(voices.length).toBeGreaterThan(50);
  expect(voices.map(({ id }) => id)).toContain('en-us');
});
