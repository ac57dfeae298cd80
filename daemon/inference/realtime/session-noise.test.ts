import { describe, expect, test } from 'vitest';
import { ANSWERED, doneOf, requestResponse, SessionBench, types } from './testing/session-bench.ts';
import { quiet, tone } from './testing/sounds.ts';

const SPOKEN_TURN = [quiet(200), tone(600), quiet(600)];
const NOISE = [tone(60), quiet(600)];

const BUSY = { audio: { input: { turn_detection: { type: 'server_vad', interrupt_response: false } } } };

const pendingTranscription = (bench: SessionBench): string => bench.last('transcribe').item;
const transcribe = (bench: SessionBench, item: string, text: string) =>
  bench.dispatch({ kind: 'transcribed', item, text, seconds: 1, ms: 1 });
const answers = (bench: SessionBench): number => bench.effects.filter(({ kind }) => kind === 'answer').length;

/** The input of the newest response: the texts of the user. */
const newestInput = (bench: SessionBench): unknown[] =>
  bench
    .last('answer')
    .chat.items.flatMap((item) => (item.type === 'message' && item.role === 'user' ? item.content : []))
    .map((part) => ('transcript' in part ? part.transcript : 'text' in part && part.text));

describe('noise', () => {
  test('during a transcription does not cancel its response', () => {
    const bench = new SessionBench();
    bench.append(...SPOKEN_TURN);
    const question = pendingTranscription(bench);
    expect(doneOf(bench.append(tone(60)))).toMatchObject({ status: 'cancelled' });
    transcribe(bench, question, 'What time is it?');
    bench.append(quiet(600));
    expect(types(transcribe(bench, pendingTranscription(bench), ''))).not.toContain('response.done');
    expect(newestInput(bench)).toEqual(['What time is it?', '']);
  });

  test('that ends a response before its first word leaves the question unanswered', () => {
    const bench = new SessionBench();
    const response = requestResponse(bench);
    bench.dispatch({ kind: 'text', response, text: 'It is noon.' });
    bench.append(...NOISE);
    transcribe(bench, pendingTranscription(bench), '');
    expect(answers(bench)).toBe(2);
  });

  test('does not restart a cancelled response', () => {
    const bench = new SessionBench();
    requestResponse(bench);
    bench.send({ type: 'response.cancel' });
    bench.append(...NOISE);
    transcribe(bench, pendingTranscription(bench), '');
    expect(answers(bench)).toBe(1);
  });

  test('after a response gets no response', () => {
    const bench = new SessionBench({ modality: 'text' });
    const response = requestResponse(bench);
    bench.dispatch({ kind: 'text', response, text: 'Hello.' });
    bench.dispatch({ ...ANSWERED, response });
    bench.append(...NOISE);
    expect(doneOf(transcribe(bench, pendingTranscription(bench), ''))).toMatchObject({
      status: 'completed',
      output: [],
    });
    expect(answers(bench)).toBe(1);
  });

  test('during an uninterruptible response does not repeat it', () => {
    const bench = new SessionBench({ modality: 'text' });
    bench.update(BUSY);
    const response = requestResponse(bench);
    bench.dispatch({ kind: 'text', response, text: 'Hello.' });
    bench.append(...NOISE);
    transcribe(bench, pendingTranscription(bench), '');
    expect(types(bench.dispatch({ ...ANSWERED, response }))).not.toContain('response.created');
    expect(answers(bench)).toBe(1);
  });

  test('that is transcribed after such a response gets no response either', () => {
    const bench = new SessionBench({ modality: 'text' });
    bench.update(BUSY);
    const response = requestResponse(bench);
    bench.dispatch({ kind: 'text', response, text: 'Hello.' });
    bench.append(...NOISE);
    expect(types(bench.dispatch({ ...ANSWERED, response }))).toContain('response.created');
    expect(doneOf(transcribe(bench, pendingTranscription(bench), ''))).toMatchObject({
      status: 'completed',
      output: [],
    });
    expect(answers(bench)).toBe(1);
  });
});

describe('speech during an uninterruptible response', () => {
  /** A second question before the response to the first has begun precedes that response. */
  function twoQuestions(): {
    bench: SessionBench;
    second: string;
    end(): ReturnType<SessionBench['dispatch']>;
  } {
    const bench = new SessionBench({ modality: 'text' });
    bench.update(BUSY);
    const response = requestResponse(bench);
    bench.append(...SPOKEN_TURN);
    const end = () => {
      bench.dispatch({ kind: 'text', response, text: 'Hello.' });
      return bench.dispatch({ ...ANSWERED, response });
    };
    return { bench, second: pendingTranscription(bench), end };
  }

  test('is answered afterwards, at any position', () => {
    const { bench, second, end } = twoQuestions();
    transcribe(bench, second, 'And when?');
    expect(types(end())).toContain('response.created');
    expect(newestInput(bench)).toEqual(['hello', 'And when?']);
    expect(answers(bench)).toBe(2);
  });

  test('that could not be transcribed is not answered', () => {
    const { bench, second, end } = twoQuestions();
    bench.dispatch({
      kind: 'transcription_failed',
      item: second,
      error: { code: 'slot.failed', message: 'It is gone.' },
    });
    expect(types(end())).not.toContain('response.created');
  });

  test('is not answered twice when the response included it', () => {
    const bench = new SessionBench({ modality: 'text' });
    bench.update(BUSY);
    bench.append(...SPOKEN_TURN);
    const first = pendingTranscription(bench);
    bench.append(...SPOKEN_TURN);
    transcribe(bench, pendingTranscription(bench), 'And when?');
    transcribe(bench, first, 'Where?');
    expect(newestInput(bench)).toEqual(['Where?', 'And when?']);
    const response = bench.answering;
    bench.dispatch({ kind: 'text', response, text: 'Here and now.' });
    expect(types(bench.dispatch({ ...ANSWERED, response }))).not.toContain('response.created');
  });
});
