import { Select } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import { type ReactElement, useRef } from 'react';
import type { V1ModelRecord } from '../../../../daemon/contract/models.ts';
import { buttonClass } from '../../../ui/button.tsx';
import menu from '../../../ui/menu.module.css';

import css from './model-picker.module.css';
import type { ModelGroup } from './models.ts';

function hint(model: V1ModelRecord): string {
  const parts = [
    model._svc.resolves_to ?? (model.name === model.id ? null : model.name),
    model._svc.demo ? 'demo' : null,
    model._svc.state,
  ];
  return parts.filter(Boolean).join(' · ');
}

function Items(props: { groups: readonly ModelGroup[] }): ReactElement {
  return (
    <Select.List>
      {props.groups.map((group) => (
        <Select.Group key={group.label}>
          <Select.GroupLabel className={menu.heading}>{group.label}</Select.GroupLabel>
          {group.models.map((model) => (
            <Select.Item key={model.id} className={`${menu.item} ${css.item}`} value={model.id}>
              <Select.ItemText className={css.id}>{model.id}</Select.ItemText>
              <span className={css.hint}>{hint(model)}</span>
              <Select.ItemIndicator className={menu.chosen}>
                <Check size={16} aria-hidden="true" />
              </Select.ItemIndicator>
            </Select.Item>
          ))}
        </Select.Group>
      ))}
    </Select.List>
  );
}

/** Selects a model, slot or virtual name of `/v1/models` that supports the mode. */
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
  const { unavailable } = props;
  const none = props.loading ? 'Loading models…' : props.none;
  return (
    <div ref={box} className={css.box}>
      <Select.Root
        value={props.model?.id ?? unavailable}
        disabled={props.groups.length === 0}
        onValueChange={(id) => (id === null ? undefined : props.onChoose(id))}
      >
        <Select.Trigger className={`${buttonClass()} ${css.trigger}`} aria-label="Model">
          <Select.Value className={css.value}>
            {(id: string | null) =>
              unavailable !== null && id === unavailable ? `${unavailable} · not available` : (id ?? none)
            }
          </Select.Value>
          <Select.Icon className={css.icon}>
            <ChevronsUpDown size={14} aria-hidden="true" />
          </Select.Icon>
        </Select.Trigger>
        <Select.Portal container={box}>
          <Select.Positioner
            className={menu.positioner}
            sideOffset={6}
            align="end"
            alignItemWithTrigger={false}
          >
            <Select.Popup className={menu.popup}>
              <Items groups={props.groups} />
            </Select.Popup>
          </Select.Positioner>
        </Select.Portal>
      </Select.Root>
    </div>
  );
}
