/** What a licence means for its user, in one sentence; the text of the licence itself is what counts. */
const MEANINGS: readonly { pattern: RegExp; text: string }[] = [
  {
    pattern: /^(apache-2\.0|mit|bsd-.*|isc|cc0-1\.0|unlicense)$/,
    text: 'Free for every use, commercial use too.',
  },
  {
    pattern: /^cc-by-4\.0$/,
    text: 'Free for every use, commercial use too, as long as its makers are named.',
  },
  {
    pattern: /^cc-by-sa/,
    text: 'Free for every use; what is made from the model itself stays under this licence.',
  },
  { pattern: /(^|-)nc(-|$)|non-?commercial/, text: 'Not for commercial use.' },
  {
    pattern: /^llama/,
    text: "Meta's own terms: free for most, with rules of use, names and size of company.",
  },
  { pattern: /^gemma$/, text: "Google's own terms: free for most, with a list of forbidden uses." },
  { pattern: /^(open)?rail|openrail/, text: 'Free for most uses; it forbids some by name.' },
  { pattern: /^(a?gpl|lgpl)/, text: 'Free for every use; changed copies that are passed on must be open.' },
];

/** A licence as the hub names it, with what it means; null when nothing is known of it. */
export function licenceWords(licence: string | null): { name: string; text: string } {
  if (licence === null || licence === 'other')
    return { name: 'not told', text: 'The hub does not tell its licence: read the page of the model first.' };
  const known = MEANINGS.find(({ pattern }) => pattern.test(licence.toLowerCase()));
  return { name: licence, text: known?.text ?? 'Read its text on the page of the model before you use it.' };
}
