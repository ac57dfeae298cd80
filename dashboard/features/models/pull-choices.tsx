import type { ReactElement } from 'react';
import type { HubChoicesView } from '../../../daemon/contract/pulls.ts';
import { byteSize } from '../../ui/format.ts';
import { FitBadge } from './fit-badge.tsx';
import css from './pull-choices.module.css';

/** The quantisations of a repository with size and fit; one is selected. */
export function PullChoices(props: {
  view: HubChoicesView;
  selected: string;
  onSelect: (model: string) => void;
}): ReactElement {
  return (
    <fieldset className={css.choices}>
      <legend>Quantisation</legend>
      <ul>
        {props.view.choices.map((choice) => (
          <li key={choice.model}>
            <label className={css.choice}>
              <input
                type="radio"
                name="quantisation"
                checked={choice.model === props.selected}
                onChange={() => props.onSelect(choice.model)}
              />
              <span className={css.name}>
                <b>{choice.quantization ?? choice.file}</b>
                <span className={css.soft}>
                  {byteSize(choice.size_bytes)}
                  {choice.preferred ? ' · recommended' : ''}
                </span>
              </span>
            </label>
            <FitBadge fit={choice.fit} />
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
