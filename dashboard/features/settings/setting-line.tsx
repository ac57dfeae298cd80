import type { ReactElement } from 'react';
import type { SettingRow } from '../../../daemon/contract/system.ts';
import { Button } from '../../ui/button.tsx';
import { State } from '../../ui/state-badge.tsx';
import { keyOfSetting, lockOfSetting, valueText } from './setting-words.ts';
import css from './settings.module.css';

const SOURCES: Record<SettingRow['source'], string> = {
  env: 'set by environment variable',
  file: 'from config.toml',
  default: 'default',
};

function Value(props: { row: SettingRow }): ReactElement {
  const { row } = props;
  if (row.secret) return <State tone={row.set ? 'ok' : 'idle'}>{row.set ? 'Set' : 'Not set'}</State>;
  return <span className={css.value}>{valueText(row.value, row.unit)}</span>;
}

/** Remarks on a value: a pending restart or an error. */
function Remarks(props: { row: SettingRow }): ReactElement {
  const { row } = props;
  return (
    <>
      {row.running === undefined ? null : (
        <State tone="attention">applies after restart; currently {valueText(row.running, row.unit)}</State>
      )}
      {row.problem === undefined ? null : <State tone="failed">{row.problem}</State>}
    </>
  );
}

function source(row: SettingRow): string {
  if (row.secret && !row.set) return '';
  const parts = [SOURCES[row.source]];
  if (row.source === 'env' && row.env !== null) parts[0] = `${SOURCES.env}: ${row.env}`;
  if (row.source !== 'default' && !row.secret) parts.push(`default ${valueText(row.default, row.unit)}`);
  if (row.persisted !== undefined) parts.push(`config.toml: ${valueText(row.persisted, row.unit)}`);
  if (!row.live) parts.push('applies after restart');
  return parts.join(' · ');
}

/** One setting with value, source and edit button. */
export function SettingLine(props: { row: SettingRow; onEdit: () => void }): ReactElement {
  const { row } = props;
  const lock = lockOfSetting(row);
  return (
    <li className={css.line}>
      <div>
        <code className={css.key}>{keyOfSetting(row)}</code>
        <p className={css.soft}>{row.help}</p>
      </div>
      <div className={css.holds}>
        <Value row={row} />
        <span className={css.soft}>{source(row)}</span>
        <Remarks row={row} />
      </div>
      <Button onClick={props.onEdit}>
        {lock === null ? 'Edit' : 'How to change'}
        <span className="hidden-visually"> {keyOfSetting(row)}</span>
      </Button>
    </li>
  );
}
