/** schemathesis sends generated requests to every operation of the OpenAPI document and checks the answers against it. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ADMIN_KEY, startLocked } from '../../../daemon/test/harness/gateway.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { ProgramError, runProgram } from '../harness/program.ts';
import { availableOrSkip } from '../harness/unavailable.ts';
import { pythonClients } from './python-environment.ts';

const RUN_LIMIT_MS = 600_000;
/** Characters of the reports in the message of a failure. */
const REPORT_LENGTH = 8_000;
/** Requests of each operation in the random phase. */
const EXAMPLES = '15';

/**
 * The checks. Left out: those that a document without every rule of a value fails (`positive_data_acceptance`,
 * `negative_data_rejection`), and `unsupported_method`, because OPTIONS and 405 do not reveal routes.
 */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'ignored_auth',
];

/** Operations that end or change the run itself: endless streams, keys, enforcement, the first run, WebSockets. */
const EXCLUDED = [
  ...['events', 'logs', 'slot.logs'],
  ...['auth.rotate', 'auth.require', 'secret.put', 'auth.sessions.end'],
  ...['setup.apply', 'v1.realtime'],
];

const python = await availableOrSkip('schemathesis over the OpenAPI document', pythonClients);

describe.skipIf(python === null)('schemathesis over the OpenAPI document', () => {
  const gateway = new OneGateway(() => startLocked({ files: { 'config/slots/agent.toml': '' } }));

  it(
    'reports nothing that the list of expected reports does not name',
    async () => {
      const script = join(python ?? '', '..', 'schemathesis');
      const args = [
        ...['--config-file', join(import.meta.dirname, 'schemathesis.toml'), '--no-color', 'run'],
        `${gateway.url}/api/openapi.json`,
        ...['-u', gateway.url, '-H', `Authorization: Bearer ${ADMIN_KEY}`],
        ...['--phases', 'coverage,fuzzing', '--max-examples', EXAMPLES, '--seed', '1'],
        ...['--checks', CHECKS.join(',')],
        ...['--request-timeout', '20', '--suppress-health-check', 'all', '--warnings', 'off'],
        ...EXCLUDED.flatMap((id) => ['--exclude-operation-id', id]),
      ];
      const cwd = gateway.home;
      const output = await runProgram(python ?? '', [script, ...args], { limitMs: RUN_LIMIT_MS, cwd }).catch(
        (error: unknown) => (error instanceof ProgramError ? error.output : Promise.reject(error)),
      );
      expect(output.split('= FAILURES =')[1]?.slice(0, REPORT_LENGTH) ?? '').toBe('');
      expect(output).toMatch(/^ *Tested: (7|8)\d$/m);
      expect(gateway.output()).not.toContain('"level":"error"');
    },
    RUN_LIMIT_MS,
  );
});
