import { expect, it } from 'vitest';
import { appName } from './caller-info.ts';

it.each([
  [null, 'Kitchen display', 'Mozilla/5.0', 'Kitchen display'],
  ['an agent', null, 'claude-cli/2.0.14 (external, cli)', 'Claude Code'],
  ['an agent', null, 'codex_cli_rs/0.46.0 (Debian 13; x86_64) xterm', 'Codex'],
  ['an SDK', null, 'AsyncOpenAI/Python 2.4.0', 'OpenAI SDK (Python)'],
  ['an SDK', null, 'Anthropic/JS 0.65.0', 'Anthropic SDK (JavaScript)'],
  ['a library', null, 'Python/3.11 aiohttp/3.12.15', 'Python (aiohttp)'],
  ['a program', null, 'curl/8.14.1', 'curl'],
  ['a browser', null, 'Mozilla/5.0 (X11; Linux x86_64) Chrome/156', 'Web browser'],
  ['the product of an unknown one', null, 'mytool/1.2 (linux)', 'mytool'],
  ['the whole text without a product', null, '/odd', '/odd'],
  ['nothing', null, null, null],
])('names %s', (_, app, agent, name) => {
  expect(appName({ app, user_agent: agent })).toBe(name);
});
