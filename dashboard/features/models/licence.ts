/** One-sentence summaries of licences. Only the text of the licence itself is binding. */
const MEANINGS: readonly { pattern: RegExp; text: string }[] = [
  {
    pattern: /^(apache-2\.0|mit|bsd-.*|isc|cc0-1\.0|unlicense)$/,
    text: 'Free for any use, including commercial.',
  },
  {
    pattern: /^cc-by-4\.0$/,
    text: 'Free for any use, including commercial, with attribution.',
  },
  {
    pattern: /^cc-by-sa/,
    text: 'Free for any use; derived models must use the same licence.',
  },
  { pattern: /(^|-)nc(-|$)|non-?commercial/, text: 'Not for commercial use.' },
  {
    pattern: /^llama/,
    text: "Meta's own terms: free for most, with limits on use, naming and company size.",
  },
  { pattern: /^gemma$/, text: "Google's own terms: free for most, with a list of forbidden uses." },
  { pattern: /^(open)?rail|openrail/, text: 'Free for most uses; some are forbidden.' },
  {
    pattern: /^(a?gpl|lgpl)/,
    text: 'Free for any use; modified copies that you distribute must be open source.',
  },
];

/** Name and summary of a licence as the hub reports it; null when the hub reports none. */
export function licenceWords(licence: string | null): { name: string; text: string } {
  if (licence === null || licence === 'other')
    return { name: 'unknown', text: 'The hub lists no licence. Read the model page before you use it.' };
  const known = MEANINGS.find(({ pattern }) => pattern.test(licence.toLowerCase()));
  return { name: licence, text: known?.text ?? 'Read the licence on the model page before you use it.' };
}
