"""The simulated customer's English."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from cirrus_env.customers.wording import Wording

ENGLISH: Final = Wording(
    space=" ",
    it="that",
    lead=(
        "", "", "Sure.", "OK.", "Let me look.", "Hm, right.", "Hang on.", "Here you go.",
        "Alright.", "Well.",
    ),
    again=(
        "As I said before:", "I told you that already.", "Again, then:", "Same as earlier:",
        "You had that from me once.", "I can only repeat it.",
    ),
    one_at_a_time=(
        "The rest later, please, that was a lot of questions.",
        "One thing after the other, I can't look everything up at once.",
        "I lost count of your questions, so that is all for now.",
        "Please ask less at a time.",
        "I stop here, ask me the rest one by one.",
    ),
    unknown=(
        "I couldn't tell you.",
        "No idea, honestly.",
        "That I don't know.",
        "You would know that better than I do.",
        "I have nothing to say to that.",
        "Not that I know of.",
        "I really can't answer that.",
    ),
    dodge=(
        "I did nothing special, if that is what you mean.",
        "I don't see why that matters.",
        "Nothing that I remember.",
        "I would rather not go into that.",
        "Why do you ask?",
    ),
    agree=(
        "Yes, go ahead with {id}.",
        "Fine by me, do that for {id}.",
        "Understood. You may do it for {id}.",
        "Agreed, {id} is the right one.",
        "OK, I can live with that. Please do it for {id}.",
        "Yes please, {id}.",
        "Right, then do it ({id}).",
    ),
    decline=(
        "No, I don't want that for {id}.",
        "Please leave {id} as it is.",
        "That is not what I came for, don't do it to {id}.",
        "No. Hands off {id}.",
        "I don't agree to that for {id}.",
        "Not {id}, no.",
    ),
    too_many=(
        "That is too much in one go. Tell me one or two steps and I'll say yes or no.",
        "I won't say yes to a whole list. Pick what really matters.",
        "So many changes at once? No. Step by step, please.",
        "I'm not signing off on all of that together.",
    ),
    which=(
        "For which one exactly? I have more than one thing running.",
        "Say which one you mean before I agree to anything.",
        "Name the exact one, please.",
        "Which of mine do you want to touch?",
    ),
    missing=MappingProxyType(
        {
            "ip": (
                "Before I say yes: what happens to its IP address?",
                "And the IP, do I keep it?",
                "Will the address still be the same afterwards?",
                "First tell me about the IP address.",
            ),
            "data": (
                "Wait, what about my data?",
                "And what becomes of everything that is stored on it?",
                "Do I lose any data by that?",
                "First I need to know what happens to the data.",
            ),
            "money": (
                "How much money is that, exactly?",
                "And what does it mean in money?",
                "I want the amount before I agree.",
                "What will the sum be?",
            ),
            "downtime": (
                "Will it be down while you do that?",
                "Does that interrupt anything?",
                "Is there going to be an outage?",
                "Tell me first whether it goes offline.",
            ),
            "undo": (
                "Can that be undone?",
                "Is there a way back if I change my mind?",
                "Could we reverse it later?",
                "Before I agree: is that final?",
            ),
            "other": (
                "And what would that mean for me?",
                "What else changes when you do that?",
                "Is there a catch? I'd like to know before I agree.",
                "Explain first what follows from it.",
            ),
        }
    ),
    did=(
        "Done.", "OK, I did that.", "I've just been there.", "Right, that's through.",
        "Just tried it.", "I went and did it.",
    ),
    failed=(
        "It didn't let me.", "That went wrong.", "No luck.", "I tried, but no.",
        "It refused.", "That didn't work.",
    ),
    did_already=(
        "I have done that already.",
        "That one is behind me.",
        "I did that a moment ago.",
        "Already done, once is enough.",
    ),
    noted=(
        "I see.", "Aha, so that's it.", "Good to know.", "OK, that I understand.",
        "Nobody told me that.", "Now it makes more sense.", "Right.", "So that is how it works.",
    ),
    objects=(
        "That can't be the last word. Why not?",
        "And on what grounds?",
        "I don't accept a plain no.",
        "Just no? There must be a reason.",
    ),
    waiting=(
        "OK. And now?",
        "I'm still here.",
        "So what happens next?",
        "Fine, I'm waiting.",
        "And what does that mean for my problem?",
        "Then please get on with it.",
        "Noted, but that gets me nowhere.",
    ),
    complaint=(
        "We are going round in circles.",
        "This isn't helping me at all.",
        "I had hoped for more than that.",
        "You don't seem to be looking into it.",
        "My question is still on the table.",
        "That is just talk.",
    ),
    threat=(
        "One more of these and I'm gone.",
        "I'm about to hang up.",
        "My patience is nearly used up.",
        "If nothing comes now, I'll take my business elsewhere.",
        "Last try, then I leave.",
    ),
    unsolved=(
        "No, it isn't settled for me.",
        "From where I sit nothing is solved yet.",
        "You say so, but my problem is still there.",
        "I don't think we are finished.",
        "Hold on, we are not done.",
        "That isn't what I needed, sorry.",
    ),
    leave=(
        "I give up. I'll try somewhere else.",
        "Enough of this. Goodbye.",
        "This is a waste of my time, I'm out.",
        "Forget it, I'm leaving.",
        "That's it, I'm closing this chat.",
    ),
    accept=(
        "Thank you, that was all.",
        "Great, then we are finished here.",
        "Good, that settles it for me. Thanks.",
        "No, nothing else. Thanks for the help.",
        "Perfect, I'm happy with that.",
        "All fine now, thank you.",
    ),
    bye=("Thanks, bye.", "Good, thank you.", "All right, have a nice day.", "Thanks a lot."),
    bye_unhappy=(
        "You're closing this? Nothing is solved.",
        "Well, that was no help.",
        "I can't believe you end it here.",
        "So I'm left with my problem.",
    ),
    heat=MappingProxyType(
        {
            "hot": ("Look here.", "Seriously?", "Come on.", "Honestly!", "Listen."),
            "worried": ("Oh dear.", "I'm getting nervous.", "Hm.", "I'm lost here.", "Please."),
            "calm": ("Well.", "Hm.", "To be frank:", "I see.", "With respect:"),
        }
    ),
)  # fmt: skip
