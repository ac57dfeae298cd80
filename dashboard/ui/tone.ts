/** The four states of the house and "nothing going on"; each has a colour and a shape of its own. */
export type Tone = 'ok' | 'busy' | 'attention' | 'failed' | 'idle';
