/** The four states and idle; each has its own colour and icon. */
export type Tone = 'ok' | 'busy' | 'attention' | 'failed' | 'idle';
