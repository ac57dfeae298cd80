/** More coding agents against the daemon, with a scripted model. */
import { testAgents } from '../clients/agents/agent-suite.ts';
import { cline } from './cline/agent.ts';
import { continueCli } from './continue/agent.ts';
import { pi } from './pi/agent.ts';
import { qwenCode } from './qwen-code/agent.ts';

await testAgents([qwenCode, continueCli, cline, pi]);
