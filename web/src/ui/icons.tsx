// The panel's icons: one stroke, 20 by 20.

import type { ComponentChildren } from "preact";

function Icon({ children, size = 20 }: { children: ComponentChildren; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

/** Mark is hocket's: two voices that alternate. */
export function Mark() {
  return (
    <svg class="mark" width="26" height="20" viewBox="0 0 26 20" aria-hidden="true" focusable="false">
      <g class="mark-user">
        <rect x="1" y="3" width="3" height="7" rx="1.5" />
        <rect x="6" y="0" width="3" height="10" rx="1.5" />
        <rect x="17" y="4" width="3" height="6" rx="1.5" />
      </g>
      <g class="mark-agent">
        <rect x="11.5" y="10" width="3" height="9" rx="1.5" />
        <rect x="22" y="10" width="3" height="6" rx="1.5" />
      </g>
    </svg>
  );
}

export const Microphone = () => (
  <Icon>
    <rect x="7.25" y="2" width="5.5" height="9.5" rx="2.75" />
    <path d="M4.5 9.5a5.5 5.5 0 0 0 11 0M10 15v3" />
  </Icon>
);

export const Muted = () => (
  <Icon>
    <rect x="7.25" y="2" width="5.5" height="9.5" rx="2.75" />
    <path d="M4.5 9.5a5.5 5.5 0 0 0 11 0M10 15v3M3 2.5 17 17.5" />
  </Icon>
);

export const Stop = () => (
  <Icon>
    <rect class="solid" x="5" y="5" width="10" height="10" rx="2" />
  </Icon>
);

export const Send = () => (
  <Icon>
    <path d="M10 16.5V4M4.5 9 10 3.5 15.5 9" />
  </Icon>
);

export const Hand = () => (
  <Icon>
    <circle cx="10" cy="10" r="7" />
    <path d="M7.5 7.5v5M12.5 7.5v5" />
  </Icon>
);

export const Keyboard = () => (
  <Icon>
    <rect x="2" y="5" width="16" height="10" rx="2" />
    <path d="M5 8.5h.01M8.3 8.5h.01M11.6 8.5h.01M15 8.5h.01M6.5 12h7" />
  </Icon>
);

export const Download = () => (
  <Icon>
    <path d="M10 3v10M5.5 9 10 13.5 14.5 9M4 17h12" />
  </Icon>
);

export const Open = () => (
  <Icon>
    <path d="M2.5 15.5v-10a1 1 0 0 1 1-1h4l2 2h7a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1Z" />
  </Icon>
);

export const Close = () => (
  <Icon size={16}>
    <path d="M5 5l10 10M15 5 5 15" />
  </Icon>
);

export const Again = () => (
  <Icon>
    <path d="M15.5 6.5A6.5 6.5 0 1 0 16.5 10M16 3v4h-4" />
  </Icon>
);

export const Warning = () => (
  <Icon>
    <path d="M10 3 18 16.5H2ZM10 8.5v3.5M10 14.3v.01" />
  </Icon>
);

export const Info = () => (
  <Icon>
    <circle cx="10" cy="10" r="7" />
    <path d="M10 9.5V14M10 6.3v.01" />
  </Icon>
);

export const First = () => (
  <Icon>
    <path d="M5 4.5v11M15 5l-6.5 5 6.5 5Z" />
  </Icon>
);
export const BackTransition = () => (
  <Icon>
    <path d="M10 5 4 10l6 5M16 5l-6 5 6 5" />
  </Icon>
);
export const Back = () => (
  <Icon>
    <path d="M12.5 5 6.5 10l6 5" />
  </Icon>
);
export const Forward = () => (
  <Icon>
    <path d="M7.5 5l6 5-6 5" />
  </Icon>
);
export const ForwardTransition = () => (
  <Icon>
    <path d="M4 5l6 5-6 5M10 5l6 5-6 5" />
  </Icon>
);
export const Last = () => (
  <Icon>
    <path d="M15 4.5v11M5 5l6.5 5L5 15Z" />
  </Icon>
);

/** Appearance shows the theme: half and half as the system, a sun, a moon. */
export const Appearance = ({ theme }: { theme: "auto" | "light" | "dark" }) => (
  <Icon>
    {theme === "auto" && (
      <>
        <circle cx="10" cy="10" r="6.5" />
        <path class="solid" d="M10 3.5a6.5 6.5 0 0 1 0 13Z" />
      </>
    )}
    {theme === "light" && (
      <>
        <circle cx="10" cy="10" r="3.5" />
        <path d="M10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M15.7 4.3l-1.1 1.1M5.4 14.6l-1.1 1.1" />
      </>
    )}
    {theme === "dark" && <path d="M16.5 11.8A7 7 0 1 1 8.2 3.5a5.6 5.6 0 0 0 8.3 8.3Z" />}
  </Icon>
);

/** The heights of the score's bars: above the line the user's, below it the agent's. */
const score = [0, 6, 14, 22, 17, 24, 12, 5, 0, -4, -12, -20, -26, -18, -23, -14, -7, -16, -9, 0, 8, 18, 11, 4, 0, -6, -15, -21, -12, -5, 0, 5, 12, 19, 9, 3, 0];

/** Score is the picture of a conversation: one voice rests while the other sounds. */
export function Score() {
  return (
    <svg class="score" width={score.length * 7} height="64" viewBox={`0 0 ${score.length * 7} 64`} aria-hidden="true" focusable="false">
      {score.map((v, i) => {
        if (v === 0) return <circle key={i} class="score-rest" cx={i * 7 + 3.5} cy="32" r="1.2" />;
        const height = Math.abs(v) + 3;
        return <rect key={i} class={v > 0 ? "mark-user" : "mark-agent"} x={i * 7 + 1.5} y={v > 0 ? 30 - height : 34} width="4" height={height} rx="2" />;
      })}
    </svg>
  );
}
