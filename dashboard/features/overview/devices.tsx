import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { DeviceRecord, HardwareView, MemoryPoolRecord } from '../../../daemon/contract/hardware.ts';
import type { SlotPlanView, SlotRecord } from '../../../daemon/contract/slots.ts';
import { Card } from '../../ui/card.tsx';
import { byteSize } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { State } from '../../ui/state-badge.tsx';
import { PoolBar } from '../shared/pool-bar.tsx';
import { poolUsageOf } from '../shared/pools.ts';
import css from './devices.module.css';
import { NextLoad, useNextLoads } from './next-load.tsx';

const ACCESS = {
  ok: null,
  no_driver: 'No driver',
  no_permission: 'No permission',
  unknown: 'Access unknown',
} as const;
const KINDS = { cpu: 'CPU', gpu: 'GPU', npu: 'NPU' } as const;

function DeviceLine(props: { device: DeviceRecord }): ReactElement {
  const { device } = props;
  const access = ACCESS[device.access];
  return (
    <>
      <p className={css.title}>
        <span>
          <span className={css.soft}>{KINDS[device.kind]}</span> {device.name}
        </span>
        {access === null ? null : <State tone="attention">{access}</State>}
      </p>
      {device.unused_reason === null ? null : <p className={css.soft}>Not used: {device.unused_reason}</p>}
    </>
  );
}

function Pool(props: {
  pool: MemoryPoolRecord;
  devices: readonly DeviceRecord[];
  slots: readonly SlotRecord[];
  next: readonly SlotPlanView[];
}): ReactElement {
  const usage = poolUsageOf(props.pool, props.slots);
  const name = props.devices.map((device) => device.name).join(', ') || props.pool.id;
  return (
    <li className={css.device}>
      {props.devices.map((device) => (
        <DeviceLine key={device.id} device={device} />
      ))}
      {usage === null ? (
        <p className={css.soft}>{byteSize(props.pool.total_bytes)}; free memory is unknown.</p>
      ) : (
        <PoolBar name={name} usage={usage} />
      )}
      {props.next.length === 0 ? null : (
        <ul className={css.nexts} aria-label={`Memory forecast for ${name}`}>
          {props.next.map((plan) => (
            <NextLoad key={plan.slot} plan={plan} />
          ))}
        </ul>
      )}
    </li>
  );
}

function Problems(props: { problems: HardwareView['problems'] }): ReactElement | null {
  if (props.problems.length === 0) return null;
  return (
    <details className={css.soft}>
      <summary>Failed readings ({props.problems.length})</summary>
      <ul className={css.problems}>
        {props.problems.map((problem) => (
          <li key={`${problem.probe} ${problem.reason}`}>
            <code>{problem.probe}</code> {problem.reason}
          </li>
        ))}
      </ul>
    </details>
  );
}

function DeviceList(props: { hardware: HardwareView; slots: readonly SlotRecord[] }): ReactElement {
  const { hardware, slots } = props;
  const { plans: next } = useNextLoads(slots);
  const pooled = new Set(hardware.pools.flatMap((pool) => pool.devices));
  return (
    <>
      <ul className={css.list}>
        {hardware.pools.map((pool) => (
          <Pool
            key={pool.id}
            pool={pool}
            devices={hardware.devices.filter((device) => pool.devices.includes(device.id))}
            slots={slots}
            next={next.filter(({ forecast }) => forecast.sum.pool === pool.id)}
          />
        ))}
        {hardware.devices
          .filter((device) => !pooled.has(device.id))
          .map((device) => (
            <li key={device.id} className={css.device}>
              <DeviceLine device={device} />
            </li>
          ))}
      </ul>
      <Problems problems={hardware.problems} />
    </>
  );
}

/** Memory pools with their devices and the slots that use them. */
export function Devices(props: {
  query: UseQueryResult<HardwareView>;
  slots: readonly SlotRecord[];
}): ReactElement {
  return (
    <Card title="Memory">
      <Loaded query={props.query} what="devices">
        {(hardware) => <DeviceList hardware={hardware} slots={props.slots} />}
      </Loaded>
    </Card>
  );
}
