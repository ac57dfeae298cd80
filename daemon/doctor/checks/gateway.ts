import type { DoctorInput } from '../doctor-input.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';
import { areFilesDenied } from './files-denied.ts';

const START = 'sudo systemctl start svc-gateway, or npm start from the sources.';
/** Warnings of the gateway that other checks report in more detail. */
const COVERED_ELSEWHERE = new Set(['configuration', 'disk', 'exposure', 'proxy']);

/** Next steps by the id of a warning of the gateway. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  upstreams: 'svcctl upstreams test NAME shows what it answers.',
};

function state({ gateway, holder }: DoctorInput): Finding {
  const { url, version } = gateway;
  if (gateway.state === 'up') return ok('gateway', `svc-gateway ${version ?? ''} answers on ${url}.`);
  if (holder !== null) {
    const fix = 'journalctl -u svc-gateway -n 50; or pass the correct address with --url.';
    return fail('gateway', `A gateway runs (process ${holder}) but does not respond on ${url}.`, fix);
  }
  if (gateway.state === 'silent') {
    return fail(
      'gateway',
      `Another program answers on ${url}, not svc-gateway.`,
      'Set another port: SVC_PORT in api.env.',
    );
  }
  return warn('gateway', `No gateway runs on ${url}.`, START);
}

/** Whether it runs, and its own warnings. */
export function gateway(input: DoctorInput): Finding[] {
  const { status, state: answers } = input.gateway;
  if (answers === 'up' && status === null) {
    const fix = 'Run it as a user who may read api.env, or set SVC_ADMIN_KEY.';
    return [state(input), warn('gateway', 'No key was found that may read its status.', fix)];
  }
  const warnings = (status?.warnings ?? []).filter(({ id }) => !COVERED_ELSEWHERE.has(id));
  return [
    state(input),
    ...warnings.map(({ id, message }) =>
      warn(id, message, NEXT_STEPS[id] ?? 'See svcctl status and svcctl logs.'),
    ),
  ];
}

/**
 * Checks whether the address can be listened on, and who uses it. A running gateway reports its own address.
 */
export function port(input: DoctorInput): Finding[] {
  const { settings, holder, port: portState } = input;
  const { state: answers, status } = input.gateway;
  const held = (at: string) => [ok('port', `${at} is in use by the gateway.`)];
  if (status !== null) return held(`${status.listener.bind_host} port ${status.listener.port}`);
  if (areFilesDenied(input)) return [];
  const address = `${settings.value('bindHost')} port ${settings.value('port')}`;
  if (portState.state === 'taken' && (answers === 'up' || holder !== null)) return held(address);
  if (portState.state === 'free') return [ok('port', `${address} is free.`)];
  if (portState.state === 'taken' && portState.by?.startsWith('systemd ')) {
    return [ok('port', `${address} is in use by systemd for svc-gateway.socket.`)];
  }
  if (portState.state === 'taken') {
    const fix = 'Stop that program, or set another port: SVC_PORT in api.env.';
    return [fail('port', `${address} is in use by ${portState.by ?? 'another program'}.`, fix)];
  }
  if (portState.state === 'no_address') {
    const fix = 'Set an address of this machine: SVC_BIND_HOST in api.env.';
    return [fail('port', `This machine has no address ${settings.value('bindHost')}.`, fix)];
  }
  if (portState.state === 'not_permitted') {
    return [
      fail(
        'port',
        `Listening on ${address} needs root rights.`,
        'Set a port from 1024 on: SVC_PORT in api.env.',
      ),
    ];
  }
  return [
    warn('port', `${address} could not be checked (${portState.reason}).`, 'Check SVC_BIND_HOST in api.env.'),
  ];
}
