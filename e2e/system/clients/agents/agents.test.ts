/** The coding agents of every run against the daemon, with a scripted model. */
import { testAgents } from './agent-suite.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { opencode } from './opencode.ts';

await testAgents([codex, claudeCode, opencode]);
