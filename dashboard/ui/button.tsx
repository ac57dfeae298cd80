import { Button as BaseButton } from '@base-ui/react/button';
import type { ComponentProps, ReactElement } from 'react';
import css from './button.module.css';

type ButtonVariant = 'plain' | 'main' | 'danger' | 'quiet';

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  variant?: ButtonVariant;
  /** A square icon button; requires an aria-label. */
  square?: boolean;
  /** While busy, the button is inert but focusable and announced as busy. */
  busy?: boolean;
}

/** The button class, for links that look like buttons. */
export function buttonClass(variant: ButtonVariant = 'plain', square = false): string {
  return [css.button, css[variant], square && css.square].filter(Boolean).join(' ');
}

/** A push button. */
export function Button({ variant, square, busy, disabled, ...rest }: ButtonProps): ReactElement {
  return (
    <BaseButton
      type="button"
      {...rest}
      disabled={disabled || busy}
      focusableWhenDisabled={busy === true}
      aria-busy={busy || undefined}
      className={buttonClass(variant, square)}
    />
  );
}
