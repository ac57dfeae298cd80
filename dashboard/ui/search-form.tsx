import { Search } from 'lucide-react';
import { type FormEvent, type ReactElement, useState } from 'react';
import { Button } from './button.tsx';
import field from './field.module.css';
import css from './search-form.module.css';

/**
 * Words that are looked for when they are sent, not while they are typed. The field follows what was searched (`q`), also
 * when that changes without it, as by the way back in the history; it keeps the focus meanwhile.
 */
export function SearchForm(props: {
  /** What is searched, for those who do not see the placeholder. */
  label: string;
  placeholder: string;
  /** Characters. */
  most: number;
  q: string;
  className: string | undefined;
  onFind: (words: string) => void;
  /** The field was emptied, which may mean more than words not sent yet. */
  onEmpty?: () => void;
}): ReactElement {
  const [words, setWords] = useState(props.q);
  const [searched, setSearched] = useState(props.q);
  if (searched !== props.q) {
    setSearched(props.q);
    setWords(props.q);
  }
  const send = (event: FormEvent): void => {
    event.preventDefault();
    props.onFind(words.trim());
  };
  return (
    <search className={props.className}>
      <form className={css.form} onSubmit={send}>
        <input
          type="search"
          className={field.input}
          aria-label={props.label}
          placeholder={props.placeholder}
          maxLength={props.most}
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
            if (event.target.value === '') props.onEmpty?.();
          }}
        />
        <Button type="submit">
          <Search size={16} aria-hidden="true" /> Search
        </Button>
      </form>
    </search>
  );
}
