import { config } from 'zod';

/** The content security policy forbids eval, so schemas are interpreted. */
config({ jitless: true });
