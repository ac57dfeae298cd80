import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { Language } from '../../../api/snippets.ts';
import { transcriptionCode } from './transcription-code.ts';

const place = { base: 'http://box:8080', key: true };
const fields = { model: "o'hear", response_format: 'srt' };

describe('a transcription as code', () => {
  it('curl sends each field and the file', () => {
    const text = transcriptionCode('curl', { ...place, key: false }, fields).replace(
      /^curl/,
      'printf "%s\\n"',
    );
    const words = execFileSync('sh', ['-c', text], { encoding: 'utf8' }).trimEnd().split('\n');
    expect(words).toEqual([
      'http://box:8080/v1/audio/transcriptions',
      ...['-F', "model=o'hear", '-F', 'response_format=srt', '-F', 'file=@recording.wav'],
    ]);
  });

  it.each<Language>(['curl', 'javascript', 'python'])(
    '%s names the key only when it is needed',
    (language) => {
      expect(transcriptionCode(language, place, fields)).toContain('SVC_CLIENT_KEY');
      expect(transcriptionCode(language, { ...place, key: false }, fields)).not.toContain('SVC_CLIENT_KEY');
    },
  );

  it('plain text is printed unchanged, of JSON the text field', () => {
    expect(transcriptionCode('python', place, fields)).toMatch(/print\(answer\)$/);
    expect(transcriptionCode('python', place, { model: 'm', response_format: 'json' })).toMatch(
      /print\(answer\.text\)$/,
    );
  });
});
