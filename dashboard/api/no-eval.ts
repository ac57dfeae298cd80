import { config } from 'zod';

/** The page may compile no code from text (its content security policy), so schemas are interpreted. */
config({ jitless: true });
