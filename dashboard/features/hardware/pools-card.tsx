import type { ReactElement } from 'react';
import type { HardwareView, MemoryPoolRecord } from '../../../daemon/contract/hardware.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { Card } from '../../ui/card.tsx';
import { byteSize } from '../../ui/format.ts';
import { HelpMark } from '../../ui/help.tsx';
import { PoolBar } from '../shared/pool-bar.tsx';
import { poolUsageOf } from '../shared/pools.ts';
import { TERMS } from '../shared/terms.ts';
import { Evidence } from './evidence.tsx';
import css from './hardware.module.css';

const KINDS: Record<MemoryPoolRecord['kind'], string> = {
  host: 'RAM',
  unified: 'Unified memory (CPU and GPU)',
  device: 'GPU memory',
};
const LIMITS: Record<MemoryPoolRecord['limited_by'], string | null> = {
  host: null,
  cgroup: 'limited by the control group of the gateway',
  gtt: 'limited by what the GPU driver can map',
  device: null,
};

function Pool(props: {
  pool: MemoryPoolRecord;
  hardware: HardwareView;
  slots: readonly SlotRecord[];
}): ReactElement {
  const { pool } = props;
  const names = props.hardware.devices.filter(({ id }) => pool.devices.includes(id)).map(({ name }) => name);
  const usage = poolUsageOf(pool, props.slots);
  const remarks = [
    names.length === 0 ? null : `used by ${names.join(', ')}`,
    LIMITS[pool.limited_by],
    pool.carveout_bytes > 0 ? `${byteSize(pool.carveout_bytes)} reserved for the GPU` : null,
  ].filter(Boolean);
  return (
    <li className={css.pool}>
      <p className={css.poolName}>
        <span>
          {KINDS[pool.kind]} <code>{pool.id}</code>
        </span>
        <span className={css.number}>{byteSize(pool.total_bytes)}</span>
      </p>
      <p className={css.soft}>{remarks.join('; ')}</p>
      {usage === null ? <p>Free memory is unknown.</p> : <PoolBar name={`pool ${pool.id}`} usage={usage} />}
      <Evidence evidence={props.hardware.evidence.find(({ of }) => of === `pool ${pool.id}`)} />
    </li>
  );
}

/** Memory pools with their use by slot. */
export function Pools(props: { hardware: HardwareView; slots: readonly SlotRecord[] }): ReactElement {
  return (
    <Card title="Memory pools" help={<HelpMark term={TERMS.pool} />}>
      <ul className={css.pools}>
        {props.hardware.pools.map((pool) => (
          <Pool key={pool.id} pool={pool} hardware={props.hardware} slots={props.slots} />
        ))}
      </ul>
    </Card>
  );
}
