import { expect, test } from 'vitest';
import { sampleFor, voiceLanguage } from './voice-samples.ts';

test.each([
  [{ architecture: 'vits', language: 'de' }, 'default', 'de'],
  [{ architecture: 'kokoro', language: 'English' }, 'bf_emma', 'en-GB'],
  [{ architecture: 'kokoro', language: 'English' }, '7', 'English'],
  [{ architecture: 'espeak-ng' }, 'fr-be', 'fr-be'],
  [{ architecture: 'vits', language: null }, 'anna', null],
])('the language of %j, %s', (model, voice, language) => expect(voiceLanguage(model, voice)).toBe(language));

test('the sample is in the language of the voice', () => {
  expect(sampleFor('de-AT')).toMatch(/Stimme/);
  expect([sampleFor(null), sampleFor('Klingon')]).toEqual([sampleFor('en'), sampleFor('en')]);
});
