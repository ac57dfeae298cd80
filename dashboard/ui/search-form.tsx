import { Search } from 'lucide-react';
import { type FormEvent, type ReactElement, useState } from 'react';
import { Button } from './button.tsx';
import field from './field.module.css';
import css from './search-form.module.css';

/**
 * A search field that searches on submit, not while typing. The field follows `q`, also when it changes through the browser
 * history, and keeps the focus.
 */
export function SearchForm(props: {
  /** Label for screen readers. */
  label: string;
  placeholder: string;
  /** Maximum length in characters. */
  maxLength: number;
  q: string;
  className: string | undefined;
  onFind: (words: string) => void;
  /** Called when the field is cleared. */
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
          maxLength={props.maxLength}
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
