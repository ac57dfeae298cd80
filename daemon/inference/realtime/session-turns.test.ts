import { expect, test } from 'vitest';
import { MANUAL, SessionBench, types } from './testing/session-bench.ts';
import { quiet, tone } from './testing/sounds.ts';

const turns = (more: object) => ({ audio: { input: { turn_detection: { type: 'server_vad', ...more } } } });

test('changed settings during speech keep the announced item', () => {
  const bench = new SessionBench();
  const events = [
    ...bench.append(quiet(200), tone(600)),
    ...bench.update(turns({ silence_duration_ms: 200 })),
    ...bench.append(tone(200), quiet(220)),
  ];
  expect(types(events)).toEqual([
    'input_audio_buffer.speech_started',
    'session.updated',
    'input_audio_buffer.speech_stopped',
    'input_audio_buffer.committed',
    'conversation.item.added',
    'conversation.item.done',
    'response.created',
  ]);
  const [started, , stopped, committed, added] = events;
  expect([stopped?.item_id, committed?.item_id, added?.item]).toMatchObject([
    started?.item_id,
    started?.item_id,
    { id: started?.item_id },
  ]);
  expect(bench.last('transcribe').sound.length).toBeGreaterThan(800 * 48);
});

test('switching to manual turns during speech ends it, and the commit is that item', () => {
  const bench = new SessionBench();
  const [started] = bench.append(quiet(200), tone(600));
  const events = bench.update(MANUAL);
  expect(types(events)).toEqual(['input_audio_buffer.speech_stopped', 'session.updated']);
  expect(events[0]?.item_id).toBe(started?.item_id);
  bench.append(tone(200));
  const [committed] = bench.send({ type: 'input_audio_buffer.commit' });
  expect(committed).toMatchObject({ type: 'input_audio_buffer.committed', item_id: started?.item_id });
  bench.append(tone(200));
  const [next] = bench.send({ type: 'input_audio_buffer.commit' });
  expect(next?.item_id).not.toBe(started?.item_id);
});

test('a VAD that is switched on again processes the buffered audio', () => {
  const bench = new SessionBench();
  bench.update(MANUAL);
  bench.append(quiet(200), tone(600));
  bench.update(turns({}));
  expect(types(bench.append(quiet(20)))).toEqual(['input_audio_buffer.speech_started']);
});
