import { Combobox } from '@base-ui/react/combobox';
import { Check, ChevronsUpDown } from 'lucide-react';
import { type ReactElement, useRef, useState } from 'react';
import type { V1ModelRecord } from '../../../../daemon/contract/models.ts';
import { buttonClass } from '../../../ui/button.tsx';
import field from '../../../ui/field.module.css';
import menu from '../../../ui/menu.module.css';
import css from './model-picker.module.css';
import { type ModelGroup, type ModelRow, matchingRows } from './models.ts';

/** Rows from which a search field is useful. */
const MANY = 6;

function hint({ id, name, _svc }: V1ModelRecord): string {
  const parts = [_svc.resolves_to ?? (name === id ? null : name), _svc.demo ? 'demo' : null, _svc.state];
  return parts.filter(Boolean).join(' · ');
}

function Item({ row: { model, others } }: { row: ModelRow }): ReactElement {
  // The hint names the model itself.
  const also = others.map(({ id }) => id).filter((id) => id !== model._svc.resolves_to);
  return (
    <Combobox.Item className={`${menu.item} ${css.item}`} value={model.id}>
      <span className={css.id}>{model.id}</span>
      <span className={css.hint}>
        {hint(model)}
        {also.length === 0 ? null : <span className={css.also}>also: {also.join(', ')}</span>}
      </span>
      <Combobox.ItemIndicator className={menu.chosen}>
        <Check size={16} aria-hidden="true" />
      </Combobox.ItemIndicator>
    </Combobox.Item>
  );
}

function Items(props: { groups: readonly ModelGroup[] }): ReactElement {
  return (
    <Combobox.List>
      {props.groups.map((group) => (
        <Combobox.Group key={group.label}>
          <Combobox.GroupLabel className={menu.heading}>{group.label}</Combobox.GroupLabel>
          {group.rows.map((row) => (
            <Item key={row.model.id} row={row} />
          ))}
        </Combobox.Group>
      ))}
    </Combobox.List>
  );
}

/** Selects a model that supports the mode. Each model is one row with its other names, which a search finds. */
export function ModelPicker(props: {
  groups: readonly ModelGroup[];
  model: V1ModelRecord | null;
  /** The selected model when it is no longer available. */
  unavailable: string | null;
  loading: boolean;
  /** Label when there is no model: "No chat model". */
  none: string;
  onChoose: (id: string) => void;
}): ReactElement {
  /** The list renders inside the view so that it belongs to its landmark. */
  const box = useRef<HTMLDivElement>(null);
  const [query, setQuery] = useState('');
  const { unavailable, groups } = props;
  const none = props.loading ? 'Loading models…' : props.none;
  const shown = matchingRows(groups, query);
  const rows = groups.reduce((sum, group) => sum + group.rows.length, 0);
  const hasOthers = groups.some((group) => group.rows.some(({ others }) => others.length > 0));
  return (
    <div ref={box} className={css.box}>
      <Combobox.Root
        value={props.model?.id ?? unavailable}
        disabled={groups.length === 0}
        filter={null}
        autoHighlight
        inputValue={query}
        onInputValueChange={setQuery}
        onOpenChange={() => setQuery('')}
        onValueChange={(id) => (id === null ? undefined : props.onChoose(id))}
      >
        <Combobox.Trigger className={`${buttonClass()} ${css.trigger}`} aria-label="Model">
          <span className={css.value}>
            {unavailable === null ? (props.model?.id ?? none) : `${unavailable} · not available`}
          </span>
          <Combobox.Icon className={css.icon}>
            <ChevronsUpDown size={14} aria-hidden="true" />
          </Combobox.Icon>
        </Combobox.Trigger>
        <Combobox.Portal container={box}>
          <Combobox.Positioner className={menu.positioner} sideOffset={6} align="end">
            <Combobox.Popup className={`${menu.popup} ${css.popup}`} aria-label="Models">
              {rows >= MANY || hasOthers ? (
                <Combobox.Input
                  className={`${field.input} ${css.search}`}
                  aria-label="Search models"
                  placeholder="Search models…"
                />
              ) : null}
              {shown.length === 0 ? <p className={menu.text}>No model matches.</p> : null}
              <Items groups={shown} />
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
    </div>
  );
}
