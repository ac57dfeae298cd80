import { deflateSync } from 'node:zlib';
import type { ResultFormat } from './request.ts';
import type { Word } from './words.ts';

/** The transcript of one segment of a recording. */
export interface Segment {
  /** Seconds from the start. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Its words. Null when the model does not report timestamps. */
  readonly words?: readonly Word[] | null;
  /** The mean log probability of its tokens. Null when the model does not report them. */
  readonly logProbability?: number | null;
}

export interface Transcript {
  readonly segments: readonly Segment[];
  /** Seconds of the recording. */
  readonly duration: number;
  /** Code of the language. Null when unknown. */
  readonly language: string | null;
}

const EAST_ASIAN = /[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]/;

/** Returns the separator between two segments: a space, except in scripts without spaces. */
export function separatorBetween(before: string, after: string): string {
  if (before === '' || after === '') return '';
  return EAST_ASIAN.test(before.at(-1) ?? '') && EAST_ASIAN.test(after[0] ?? '') ? '' : ' ';
}

/** Joins the text of all segments. */
export const textOf = (segments: readonly Segment[]): string =>
  segments.reduce((all, { text }) => all + separatorBetween(all, text) + text, '');

function clock(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const rest = String(ms % 1000).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${point}${rest}`;
}

const cue = ({ start, end, text }: Segment, point: string): string =>
  `${clock(start, point)} --> ${clock(end, point)}\n${text.replaceAll('-->', '->')}\n`;

/** Returns how well a text compresses, as Whisper measures it: repetitions have a high ratio. */
function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return Math.round((bytes.length / deflateSync(bytes).length) * 1000) / 1000;
}

/**
 * Returns a segment in OpenAI's format. These models decode without randomness and report no token ids. A
 * probability that the model does not report is absent, because clients drop segments by it.
 */
const verboseSegment = ({ start, end, text, logProbability }: Segment, id: number): object => ({
  id,
  seek: Math.round(start * 100),
  start,
  end,
  text,
  tokens: [],
  temperature: 0,
  ...(logProbability == null ? {} : { avg_logprob: logProbability }),
  compression_ratio: compressionRatio(text),
});

/** Returns words in OpenAI's format. Omits them when any segment with text has none. */
function wordList(segments: readonly Segment[]): { words?: readonly Word[] } {
  const lists = segments.map(({ text, words }) => (text === '' ? [] : (words ?? null)));
  return lists.includes(null) ? {} : { words: lists.flatMap((list) => list ?? []) };
}

function verbose({ segments, duration, language }: Transcript, words: boolean): object {
  return {
    task: 'transcribe',
    language: language ?? 'unknown',
    duration,
    text: textOf(segments),
    segments: segments.map(verboseSegment),
    ...(words ? wordList(segments) : {}),
    usage: usageOf(duration),
  };
}

/** Returns OpenAI's usage of a recording in seconds, rounded up. */
export const usageOf = (duration: number): object => ({ type: 'duration', seconds: Math.ceil(duration) });

const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/** Returns the response body in one of OpenAI's formats. */
export function resultBody(
  transcript: Transcript,
  format: ResultFormat,
  words = false,
): { type: string; body: string } {
  const spoken = transcript.segments.filter(({ text }) => text !== '');
  const text = textOf(spoken);
  if (format === 'text') return { type: TEXT, body: `${text}\n` };
  if (format === 'srt')
    return { type: TEXT, body: spoken.map((each, index) => `${index + 1}\n${cue(each, ',')}`).join('\n') };
  if (format === 'vtt')
    return { type: TEXT, body: `WEBVTT\n\n${spoken.map((each) => cue(each, '.')).join('\n')}` };
  const answer =
    format === 'json'
      ? { text, usage: usageOf(transcript.duration) }
      : verbose({ ...transcript, segments: spoken }, words);
  return { type: JSON_TYPE, body: JSON.stringify(answer) };
}
