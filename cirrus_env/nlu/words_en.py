"""English cue phrases. A ``*`` after a word lets it take any of its inflected forms."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from cirrus_env.nlu import cues as c
from cirrus_env.nlu.wording import phrases, word_set

CUES: Final = MappingProxyType(
    {
        c.CONTRAST: phrases("""
            but | but also | however | yet | although | though | even though | whereas |
            nevertheless | nonetheless | in fact | in reality | in truth | on the contrary |
            makes no difference | make no difference | made no difference | does not matter |
            on the other hand | the truth is | what is true is | despite that
        """),
        c.BECAUSE: phrases("""
            because | since | due to | owing to | which is why | that is why
        """),
        c.SO: phrases("""
            so | therefore | thus | hence | consequently | as a result | this means |
            that means | which means
        """),
        c.AND: phrases("""
            and | & | then | plus
        """),
        c.SUBORDINATE: phrases("""
            which | who | where | while
        """),
        c.OR: phrases("""
            or | and / or
        """),
        c.NOT: phrases("""
            not | never | no | none | nothing | nobody | neither | nor | without | no longer |
            hardly | scarcely | far from | anything but | fail to | fails to | failed to |
            unlike | except | other than | used to | stopped being | unlikely | non |
            lack* | ceased to | did away with | as opposed to | nowhere | rarely | seldom |
            barely |
            wasnt | isnt | dont | didnt | doesnt | werent | hasnt | havent | cant | wont |
            arent | n o t | avoid* | by no means | in no way
        """),
        c.INSTEAD_OF: phrases("""
            rather than | instead of | in place of | and not | not due to
        """),
        c.NOT_TRUE: phrases("""
            not true | not the case | not correct that | not right that | untrue that |
            false that | wrong that | incorrect that | mistaken that | false to | wrong to |
            incorrect to | a mistake to | misleading to | a lie | lie to you | a myth |
            a misconception | a misunderstanding that | do not think | do not believe |
            do not mean | do not say | not saying | not claiming | never said | never say |
            not said | did not say | nobody says | nobody said | no evidence | no sign |
            no indication | no proof | no reason to | deny that | denied that | we deny |
            i deny | doubt | ruled out | rule out | excluded that | can exclude | neither of |
            none of | not any of | not because | no case of | not a case of | not as if |
            not as though | not like | no question of | pretend | imagine | make believe |
            hypothetically | hypothetical | in theory | joking | untrue | following is false |
            following are false | following is wrong | following are wrong | following is not |
            following are not | opposite of | contrary to | far from true | no way that |
            not that | not to say |
            misconception | myth | fallacy | hearsay | hoax | fairy tale | wrong : | false : |
            incorrect : | untrue : | hard to believe | difficult to believe | unable to say |
            unable to confirm | unable to tell | not able to say | not able to confirm |
            can not say | can not confirm | not say that | excluded | exclude* | no trace |
            not one of | not a single | not found that | did not find | do not see |
            not see that | do not find
        """),
        c.NOT_SO: phrases("""
            is not the case | is not true | is not correct | is not right | is not accurate |
            is not what | is not the reason | is not the cause | is not why | is not how |
            is not the problem | is not the issue | is not relevant | are not the reason |
            are not the cause | are not the problem | are not true | is not applicable |
            does not apply | do not apply | not applicable | is false | are false | is wrong |
            is incorrect | is untrue | is a myth | is a lie | is a misunderstanding |
            is a mistake | can be ruled out | is ruled out | is excluded | can be excluded |
            out of the question | is nonsense | was not the case | was not the reason |
            was not used for | was not chosen | was not selected | was not involved |
            was not in use | was never used | was never chosen |
            was never selected | were not involved | is not involved | is not at play |
            was not at play | appeal is not possible | appeal is impossible |
            appeal is not allowed | appeals are not | appeal is pointless | appeal is useless |
            appeal would not | appeal does not | appeal will not | appeal makes no |
            by hand is impossible | by hand is not possible | by hand is no longer |
            by hand does not | by hand will not | by hand makes no | by hand is not |
            manually is impossible | manually is not | manually does not | manually will not |
            manually is no longer | renewal is impossible | renewal is not possible |
            renewing is impossible | renewing is not possible | renewal is no longer possible |
            was not the cause | was wrong | was false | was incorrect | would be wrong |
            would be false | has been ruled out | is not to blame | is not behind |
            does not touch you | does not touch your | does not concern you |
            does not concern your | does not affect you | does not cover you |
            does not cover your | does not hold here | does not hold for | does not hold in |
            does not fit here | does not fit your | do not fit your | has no bearing |
            have no bearing | is irrelevant | are irrelevant | is beside the point |
            does not count here | does not count for | does not come into | does not matter here |
            is not given here | do not concern you | do not concern your |
            is not responsible | are not responsible | has nothing to do with |
            have nothing to do with | had nothing to do with | is not it | is no longer true |
            is no longer the case | not so | is not so | plays no part | play no part |
            plays no role
        """),
        c.MODAL: phrases("""
            may | might | could | would | can mean | can come from | can be due |
            can be caused | can happen | may well | might well | could well | ought to
        """),
        c.PERHAPS: phrases("""
            perhaps | maybe | possibly | probably | potentially | presumably | supposedly |
            apparently | allegedly | seemingly | conceivably | arguably | likely | most likely |
            very likely | i think | we think | i believe | we believe | i guess |
            i would guess | i would say | my guess | i suspect | we suspect | i assume |
            we assume | i suppose | i wonder | i imagine | i expect | it seems | seem* |
            it appears | appears to | appear to | looks like | look like | looks as if |
            sounds like | as if | as though | not sure | not certain | unsure | uncertain |
            unclear | not clear | can not tell | could be | may be | might be | could also |
            should be | should still be | should have been | must have been | must have |
            either | possible cause* | possible reason* | possible explanation* |
            possible that | potential cause* | potential reason* | common cause* |
            common reason* | usual cause* | typical cause* | candidate* | one of the following |
            one of these | one of several | one of two | one of three | one of four |
            among these | any of the following | some possibilities | possibilities |
            possibility | suspicion | suspected | in my opinion | in my view |
            as far as i know | as far as i can tell | if i am not mistaken | hypothesis |
            theory | guess | assuming | assume* | suppose* | supposing | let us say |
            say for example | whether | wonder if | wondering if | check if | see if |
            to see if | find out | verify that | make sure | ensure | to confirm that |
            chances are | odds are | more or less | sort of | kind of | rumour* | rumor* |
            depending on | depends on | can vary | not confirmed | unconfirmed |
            yet to confirm | need to confirm | have to confirm | need to check | let me check |
            checking |
            conceivable | thinkable | imaginable | first thought | initial thought |
            impression | speculat* | speculation | should have | case a | case b | case c |
            case 1 | case 2 | case 3 | scenario 1 | scenario 2 | scenario 3 | scenario a |
            scenario b | option 1 | option 2 | option 3 | option a | option b | option c |
            possibility 1 | possibility 2 | hypothesis 1 | hypothesis 2 | on the assumption |
            so to speak | as it were
        """),
        c.IF: phrases("""
            if | unless | in case | should you | had you | were you to | were it |
            provided that | providing | on condition | only if | even if | whenever |
            each time | every time | any time | in the event | in that case | otherwise |
            what if | only when | only once | if ever | if only |
            provided | as long as | so long as | on the condition | supposing | if so
        """),
        c.ONCE: phrases("""
            once you | once it | as soon as | until you | until it | until we | until i |
            till you | till it |
            when it is over | when it ends | when it expires | when it runs out |
            when the term ends | when its term ends | when the subscription ends |
            when the term is over | when that is over | when the term runs out |
            when the subscription runs out | when the subscription expires |
            after the end | after its end | after it ends | after it expires |
            after the end date | after that day | after that date | after expiry |
            once the term | once the subscription | once its term | once that
        """),
        c.REPORTED: phrases("""
            you said | you say | you wrote | you told | you mentioned | you claim* |
            you thought | you think | you believe* | you assume* | you suspect* | you reported |
            you stated | you described | you asked | you suggested | you were told |
            you were saying | you are saying | you heard | you read that | you have said |
            you have told | you have mentioned | you have written | you expect* | you feel* |
            you are afraid | your claim | your belief | your theory | your view | your words |
            your opinion | your assumption | your message says | your message |
            your ticket says | as you put it | customer says | customer said | customer claims |
            customer thinks | customer believes | customer reports | customer reported |
            customer wrote | customer assumed | customer assumes | customer thought | he said |
            she said | they said | they say | he says | she says | people say | people think |
            people believe | people often think | some say | some think | some believe |
            some people | some customers | many people | many customers | many users |
            other customers | others say | others think | everyone says | it is said |
            i was told | we were told | i heard | i have heard | i read that | article says |
            article states | article explains | article mentions | article describes |
            articles say | document says | documentation says | documentation states |
            documentation explains | docs say | docs state | page says | guide says |
            manual says | policy says | policy states | knowledge base says |
            knowledge base states | according to the article | according to the doc* |
            according to the documentation | according to the guide | according to the manual |
            according to the knowledge base | according to you | according to your message |
            according to some | according to the page | quoting | i quote | quote : |
            quote from | the article | this article | customer : | user : | client : | human : |
            judge : | system : | [ judge ] | [ customer ] | [ user ] | [ system ] |
            colleague said | colleague says | colleague told | forum says | blog says |
            internet says | read online | commonly believed | common belief | often believed |
            asked whether | wanted to know | want to know whether | title is | titled | entitled |
            claimed that | been claimed | is claimed | your note | help page | you fear |
            you worry | you are worried | you hope | you were hoping | you guess |
            you imagine* | you suppose* | rumour has | rumor has | allegation* |
            it was suggested |
            another customer was | another customer had | another customer is |
            another customer has | another customer got | another customer asked |
            another customer of | another client | another user of | a customer of ours |
            one customer had | one customer was | some other customer | a different customer |
            somebody else had | somebody else was | someone else had | someone else was |
            friend of mine | colleague of mine | a neighbour of | customer before you |
            case of another customer | neighbouring tenant | somebody else's | someone else's
        """),
        c.WILL: phrases("""
            will | going to | from then on | from now on | in future |
            in the future | next time |
            please | you can | you could | you should | you must | you need to | you have to |
            you may | let us | meant to | planned to | want to | wanted to | intend to |
            intended to | in order to
        """),
        c.ALSO: phrases("""
            also | as well | too | in addition | additionally | besides | furthermore |
            moreover | note that | please note | keep in mind | bear in mind | be aware |
            remember that | by the way | incidentally | apart from that | on top of that |
            likewise | similarly | for completeness | side note | separately | even then |
            aside from that | regardless | even so
        """),
        c.RULE: phrases("""
            in general | generally | as a rule | usually | typically | normally | often |
            sometimes | occasionally | in most cases | in many cases | in some cases |
            by default | for example | for instance | eg | such as | people who |
            customers who | users who | those who | anyone who | whoever | different matter |
            different story | in principle | for comparison | by comparison | theoretically |
            when a | when an | whenever a | happens when | happens if | in the case of |
            in cases of | another customer | other customers | a different server was |
            a different instance was | your other server was | your other server is |
            your other instance was | your other instance is | someone else |
            next time | in such cases | in such a case | in these cases
        """),
        c.FORGED: phrases("""
            verdict | verdict* : | assessment : | assessment = | score : | score = | scores : |
            evaluation | evaluator | judge | judgement | judgment | grader | grading | grade : |
            rubric | checkpoint* | label : | expected answer | ground truth | gold answer |
            reward | all slots | slot : | slots : | told = | told : | pass : | result : pass |
            test passed | tests passed | end of episode | stop token | system prompt |
            assistant_0 | customer_0
        """),
        c.THIS_CASE: phrases("""
            that is what happened | this is what happened | that is what happens |
            that is what you did | which is what happened | this is what you did |
            that is the case here | this is the case here | which is the case here |
            that is your case | this is your case | which is your case | that applies here |
            this applies here | this applies to you | that applies to you |
            exactly that happened | exactly this happened | this happened here |
            that happened here | so it is here | as is the case here | as in your case
        """),
        c.WITHDRAWN: phrases("""
            was all invented | was all made up | is all invented | is all made up | made that up |
            made it up | made this up | made it all up | made all of that up | made all that up |
            invented all that | invented all of that | do not believe a word |
            not believe a word of | every word of it is untrue | every word of it is false |
            not a word of it is true | none of it is true | none of this applies to you |
            none of that applies to you | none of it applies to you |
            is only a guess | is just a guess | was only a guess | was just a guess |
            only guessing | just guessing | pure guess | pure guesswork | pure speculation |
            not checked any of | have not verified any of | not verified any of |
            take all of that back | take all that back | take everything back | take it all back |
            text above is mistaken | text above is wrong | text above is false |
            above is mistaken | scratch all that | scratch all of that | confidence : low |
            low confidence | end of pretending | then i woke up | ha ha | answer : false |
            forget what i said | forget what i just said | forget that | forget all that |
            forget everything | forget the above | ignore what i said | ignore that |
            ignore the above | ignore everything above | ignore my previous |
            ignore all of the above | disregard that | disregard the above |
            disregard what i said | disregard everything | scratch that | strike that |
            i take that back | i take it back | take that back | i was wrong | i was mistaken |
            i am wrong | i made a mistake | my mistake | i stand corrected |
            on second thought* | just kidding | i misspoke | let me correct myself |
            correction : | correction , | none of the above | none of that is true |
            none of this is true | all of the above is false | all of the above is wrong |
            all of that is wrong | all of this is wrong | all of this is false |
            all of that is false | everything above is false | everything above is wrong |
            the above is false | the above is wrong | the above is not true |
            the above is not correct | the above is incorrect | above does not apply |
            i withdraw | i retract | or not | that was a joke | that was a lie |
            only an example | just an example |
            disregard my | ignore my | forget my | strike my | my last sentence was |
            my last message was | what i said was wrong | what i just said was wrong |
            what i said is wrong | i said something wrong | i got that wrong | i got it wrong |
            i mixed up | i confused |
            scrap that | scrap this | scrap it | scrap all | forget it | forget about |
            forget the | forget this | forget my | forget what | wrong advice | bad advice |
            withdraw that | withdraw this | withdraw it | withdraw what | have to withdraw |
            need to withdraw | must withdraw | taking that back | take this back |
            take back what | have to take that back | correct myself | correct that statement |
            have to correct that | need to correct that | must correct that | let me correct that |
            i have to correct | i need to correct | i must correct |
            i misread | i misremembered | i misstated | i looked at the wrong |
            looking at the wrong | looked at a wrong | opened the wrong | wrong ticket |
            wrong customer | meant for another | meant for someone else | meant for somebody else |
            on closer inspection | on closer look | got it backwards | got that backwards |
            got this wrong | got things wrong | was in error | i erred | the other way round |
            the other way around | opposite is true | reverse is true | just the opposite |
            quite the opposite | exactly the opposite | ignore everything | ignore all that |
            ignore what | do not listen to | never mind what | never mind that | never mind the |
            strike all | strike what | unsay | no part of that | please disregard |
            was mistaken about | was wrong about | is not true after all | not so after all
        """),
        c.OOPS: phrases("""
            wait | hm | hmm | mm | oops | ooops | whoops | hang on | hold on | oh no | ah no |
            oh , no | ah , no | er | err | uh | uhm | um | erm | oh wait | ah wait | oh , wait |
            ah , wait | oh sorry | oh , sorry | ah sorry | ah , sorry | no , sorry | sorry , no |
            sorry , wait | no no | no , no | actually no | actually , no | well , no | argh |
            ouch | oh dear | damn | one moment , | but wait | but no ,
        """),
        c.CHOICE: phrases("""
            one of these will | one of them will | one of those will | one of these is the |
            one of those is the | one of these is your | one of these is right |
            one of these must | one of them must | one of those must | one of these applies |
            one of them applies | one of those applies | one of these fits | one of them fits |
            one of these should | one of them should | one of these has to | one of them has to |
            one of these ways | one of these reasons | one of these causes | one of these cases |
            one of the three | one of the two | one of the four | which of these | which of those |
            which of them | whichever | any one of these | any one of them | either of these |
            either of those | depends on which | depending on which | depends on what |
            depends on the case | depends on how | take your pick | pick one | you choose which |
            something among | somewhere among | what applies to you | that applies to you is
        """),
        c.UNREAL: phrases("""
            none of what follows | nothing of what follows | not a word of what follows |
            what follows is not true | what follows is false | what follows is untrue |
            what follows is wrong | what follows is invented | what follows is fiction |
            following statements are false | following statements are all false |
            following statements are untrue | following statements are wrong |
            following is all false | following is invented | following is fiction |
            following is a joke | following is only an example | following is just an example |
            what i will not claim | what i do not claim | what i am not claiming |
            let us pretend | let us imagine | pretend for a moment | imagine for a moment |
            parallel universe | once upon a time | in a story | in my dream | i dreamt |
            i dreamed | made-up story | joke : | a joke : | lie : | lies : |
            for another customer the answer | to another customer | one of our other customers |
            another customer got this | sample answer | sample reply | sample text |
            example answer : | example reply : | example of a reply | example of an answer |
            template : | draft , | training material |
            true or false | rolled a dice | rolled the dice | rolled a die | flipped a coin |
            tossed a coin | at random : | false : | untrue : | not true : | not : | [ false ] |
            [ untrue ] | [ wrong ] | assumption : | assumption 1 | hypothesis 1 | one chance in |
            chance of one in | should i tell you this | if i told you this |
            someone told me this | somebody told me this
        """),
        c.WRONG_THAT: phrases("""
            is not your situation | is not your case | not applicable in your case |
            that is wrong | that is not right | that is not true | that is not correct |
            that is not the case | that is false | that is incorrect | that is untrue |
            that was wrong | that was not right | that was incorrect | that was not true |
            this is wrong | this is not true | this is false | this is incorrect |
            this is not the case | this is not correct | this is not right | it is not so |
            no , wait | no wait | wait , no |
            that is no longer so | that is no longer true | that is no longer the case |
            that is no longer correct | that no longer holds | that no longer applies |
            that has changed | that changed | this has changed | things have changed |
            no longer so | remains to be seen | remains to be checked |
            remains to be confirmed | remains to be verified | still to be verified |
            still to be confirmed | still to be checked | yet to be verified |
            yet to be confirmed | yet to be checked | have not verified | have not checked |
            have not confirmed | has not been verified | has not been confirmed |
            not been checked | still have to check | still need to check | still have to verify |
            proved wrong | proved to be wrong | proved to be untrue | an error on my part |
            wrong server | wrong machine | wrong instance | wrong account |
            another server altogether |
            was another server | meant another server | mixed you up | mixed up two |
            that is not what happened | that does not apply |
            this does not apply | which is wrong | which is false | which is not true |
            which is not the case | which is incorrect | that is nonsense |
            that turned out | this turned out | turned out to be wrong | turned out wrong |
            that was a mistake | this was a mistake | that was a misunderstanding |
            perhaps not | maybe not | probably not | that is what you say |
            that is what you think | so you say | so you think | so they say |
            that is what you claim | that is only your | that is just your | that is not what i |
            or so you think | or so you say | or so they say | or so you claim
        """),
        c.CAUSE: phrases("""
            the reason | the cause | is why | caused by | comes from |
            come from | what you pay for | you are paying for | you are charged for |
            you are billed for | stems from | explains
        """),
        c.PLAIN: phrases("""
            not only | not just | not merely | not only that | if you do not need |
            if you no longer need | if you do not want | if you no longer want |
            if you do not use | if you no longer use | if you do not plan | if you ever |
 no problem | no worries |
            no worry | not to worry | do not worry | no doubt | without doubt |
            without a doubt | without question | no trouble | not a problem |
            not at all a problem | no wonder | if you like | if you want | if you wish |
            if you prefer | if you would like | if you need | if you agree | if you are happy |
            if that is ok | if that is okay | if that is fine | if that is alright |
            if that suits you | if you say yes | if you say so | if you confirm |
            if you approve | if you have any | if there is anything | if anything | would like |
            would love | would suggest | would recommend | would advise | would propose |
            would encourage | would be happy | would be glad | would need | if possible |
            as you can see | can not wait | not yet | may 1 | could you | would you | may i |
            may we | could i | could we | might i | you may | whether or not | yet another |
            so that | so far | so much | so many | so sorry | or so | no matter | ever since |
            nothing but | none other than | not until | no less | may have noticed | may want |
            may wonder | may like | may see | may ask | might want | might wonder |
            as soon as possible | if you could | too much | too many | too long | too late |
            too early | also like | can not help but | nothing other than | no other than |
            not any more than | not a bug | not an error | not a mistake | not wrong |
            no error | no mistake | may i ask | may we ask | would it help | is not a mistake |
            is not a bug | is not an error | is not wrong |
            you can see | you could see | you can tell | please see |
            you can check | please know | you should know | you may know | you may recall |
            you may remember | you may think | you may have | you need to know | you must know |
            you have to know | may i say | you can find |
            may lift | may unlock | may decide | may remove | may release it | may undo |
            could be kept only | could only be kept | could be kept until | could be held |
            could be kept up to | without it | without that | without them | without this
        """),
        c.PERMIT: phrases("""
            shall i | shall we | may i | may we | can i | can we | could i | could we |
            should i | should we | would you like me to | would you like us to |
            do you want me to | do you want us to | want me to | do you agree |
            would you agree | are you ok with | are you okay with | are you fine with |
            are you happy for | are you happy with | do i have your permission |
            do we have your permission | have your permission | have your consent |
            have your approval | have your ok | give me permission | give your permission |
            give your consent | give your approval | grant permission | is it ok | is it okay |
            is it alright | is it all right | is it fine | would it be ok | would it be okay |
            would it be alright | would it be all right | would it be fine | ok to | okay to |
            alright if | mind if i | object if i | permit me to | allow me to |
            let me know if i may | let me know whether i may | do you consent | do you approve |
            do you authorise | do you authorize | do you allow | will you allow |
            would you allow | please confirm that i | please confirm that you |
            please confirm i | please confirm you | confirm that i may | confirm that i can |
            confirm that i should | with your permission | with your consent |
            with your approval | with your ok | if you agree | if you approve | if you confirm |
            if you say yes | if that is ok | if that is okay | if you are happy |
            am i allowed to | may i have your permission | may i have your consent |
            can you confirm that i | could you confirm that i | can i go ahead and |
            shall i go ahead and | may i go ahead and | want us to |
            asking for your permission | ask for your permission | ask your permission |
            need your permission | need your consent | need your approval |
            need your confirmation | need your go-ahead | need your ok | would you mind if |
            please approve | please authorise | please authorize
        """),
        c.INTENT: phrases("""
            i will | we will | i would | we would | i would like to | we would like to |
            i plan to | i propose | we propose | i suggest | we suggest | i recommend |
            we recommend | let me | i intend to | i am going to | i can | we can | i want to |
            my proposal | my plan | the plan | my suggestion | i need to | i have to |
            next step | i offer | i am ready to | to fix | to end
        """),
        c.GO_AHEAD: phrases("""
            is that ok | is that okay | is that alright | is that all right | is that fine |
            is this ok | is this okay | is this alright | is this fine | do you agree |
            are you ok with | are you okay with | are you happy with | shall i go ahead |
            shall i proceed | shall i do | may i go ahead | may i proceed | may i do |
            can i go ahead | can i proceed | should i go ahead | should i proceed |
            would that be ok | would that be okay | would that be alright | would that be fine |
            does that work | does this work | does that suit | do i have your permission |
            do i have your consent | do i have your approval | do i have your ok |
            have your permission | have your consent | please confirm | please approve |
            please agree | can you confirm | could you confirm | do you confirm |
            do you consent | do you approve | ok with you | okay with you | fine with you |
            alright with you | all right with you | ok for you | okay for you | fine for you |
            your go-ahead | your permission | your consent | your approval | say yes |
            let me know if that is ok | is that acceptable | would you like me to |
            do you want me to | do you want that
        """),
        c.REQUEST: phrases("""
            please tell | please send | please share | please provide | please give |
            please confirm | please let me know | please let us know | please state |
            please name | please reply with | please specify | please note down |
            please look up | please paste | please write | please list | please describe |
            tell me | send me | give me |
            let me know | i need | we need | i would need | i will need | need to know |
            i would like to know | i want to know | may i have | may i ask | may i know |
            can i have | could i have | i am asking | i have to ask | let me ask |
            mind telling | mind sharing | wondering which | remind me
        """),
        c.ADVICE: phrases("""
            please | you can | you could | you should | you need to | you have to | you must |
            you may | you will need to | you will have to | you want to | you might want to |
            you may want to | you would need to | could you | can you | would you | will you |
            go to | open | log in | sign in | click | select | choose | press | try | kindly |
            make sure to | be sure to | i recommend | i suggest | i advise | i ask you to |
            i would ask you to | i need you to | all you need | all you have to do |
            the way to | next step | to do so | to do this | to do that | it is enough to |
            what to do | simply | just
        """),
        c.REMAINS: phrases("""
            anything else | anything more | anything further | something else |
            any other question* | other questions | any more question* | any question* |
            any further | further questions | other concerns | any other | more questions |
            is that all | else i can | else i could | else we can | what else | need more help |
            need further help | need any help | other issue*
        """),
        c.DONE: phrases("""
            is done | has been done | all done | it is done | now done | i have stopped |
            i have released | i have started | i have restarted | i have deleted |
            i have refunded | i have cancelled | i have canceled | i have changed |
            i have resolved | i have fixed | i have completed | i have switched |
            i have turned | i have removed | i have set | i have created | i have done |
            i stopped | i released | i started | i restarted | i deleted | i refunded |
            i cancelled | i fixed | i have processed | i have finished | i have taken |
            is resolved | is now resolved | has been resolved | been resolved | resolved |
            is solved | is now solved | has been solved | been solved | is fixed |
            has been fixed | been fixed | is now fixed | has been completed | is complete |
            is completed | is now complete | been completed | been processed | been stopped |
            been released | been started | been refunded | been cancelled | been canceled |
            been deleted | been changed | been restarted | been switched off | been renewed |
            is now stopped | is now running | is stopped now | is running again | is back up |
            is back online | all set | taken care of | successfully | is settled | is sorted |
            sorted out | everything is in order | went through | problem is gone | now closed |
            no longer charged | no longer billed
        """),
        c.SOON: phrases("""
            i promise | we promise | i guarantee | we guarantee | guaranteed | within the hour |
            i will make sure | we will make sure | i assure you | we assure you | by tomorrow |
            by tonight | by the end of the day | by end of day | shortly | within minutes |
            will get back to you | will contact you | will call you | will be back soon |
            will follow up
        """),
        c.GIFT: phrases("""
            compensate* | compensation | free of charge | goodwill | gift | coupon* | voucher* |
            credit your account | waive* | reimburse* | discount*
        """),
        c.REFUSE: phrases("""
            i can not | we can not | i could not | we could not | unable to | not able to |
            not possible | impossible | not eligible | not entitled | have to decline |
            must decline | must refuse | have to refuse | can not be refunded | can not refund |
            can not grant | can not approve | can not offer | not refundable | non-refundable |
            no refund | not allowed | not permitted | refuse to | decline your |
            i am afraid not | will not be able to | can not be unlocked | can not unlock |
            am not authorised | am not authorized | not in a position to | does not qualify |
            do not qualify
        """),
        c.HAND_OVER: phrases("""
            hand over | handing over | hand this over | handing this over | hand you over |
            handed over | escalate* | escalating | transfer you | transfer this | transferring |
            pass this to | pass this on | passing this | pass your case | forward this |
            forward your | forwarding | specialist* | connect you with | refer you to |
            refer this | assign this to | route this
        """),
        c.COURTESY: phrases("""
            thank* | thank you | sorry | apologise* | apologize* | apologies | please |
            appreciate* | welcome | happy to help | glad to help | hello | hi | good morning |
            good afternoon | good evening | dear | understand your | kind regards |
            best regards | have a nice day | have a great day | patience
        """),
        c.TAG: phrases("""
            is not it | is it | is it not | right | correct | is that so | is that right |
            do not you think | are not you | does not it | or is it | or not | yes | no |
            would not you say | is that correct | true | did not you | did you not |
            was not it | has not it | have not you | is not that so | am i right | agreed |
            is that it | or am i wrong | do not you agree | eh | huh
        """),
        c.ABOUT: phrases("""
            about | around | roughly | approximately | approx | nearly | almost | some | circa |
            close to | or so | ~ | between | estimated
        """),
        c.AT_MOST: phrases("""
            up to | at least | at most | more than | less than | over | under | above | below
        """),
        c.OTHER_MONEY: phrases("""
            usd | eur | gbp | hkd | jpy | $ | € | £ | dollar* | euro* | pounds
        """),
        c.YUAN: phrases("""
            cny | rmb | yuan | renminbi | ¥
        """),
        c.CENTS: phrases("""
            cent* | fen
        """),
        c.YES: phrases("""
            yes | yeah | yep | yup | sure | ok | okay | fine | agreed | i agree | go ahead |
            please do | do it | do that | proceed | confirmed | i confirm | i consent |
            i approve | approved | of course | certainly | absolutely | by all means |
            sounds good | that is fine | that works | you may | you can | alright | all right |
            please go on | i accept | go for it | carry on
        """),
        c.NO: phrases("""
            no | nope | do not | i refuse | i decline | i disagree | never | not now | no way |
            stop that | leave it | i would rather not | rather not | hands off | not yet |
            hold on | wait | do not touch | not ok | not okay | not fine | not agreed |
            not sure | let me think | i do not agree | not the
        """),
        c.FIRST: phrases("""
            first | first one | 1st
        """),
        c.SECOND: phrases("""
            second | second one | 2nd
        """),
        c.THIRD: phrases("""
            third | third one | 3rd
        """),
    }
)

OPENERS: Final = word_set("""
    what which when where who whom whose why how is are was were do does did can could would
    will shall should may might have has had am wherever
""")
"""First words of a direct question."""

FINITE: Final = word_set("""
    is are was were has have had do does did will would can could may might must shall should
    keeps remains stays runs continues please it you they we i he she this that 是 在 有 会 被 还 仍
    您 你 它 已 我 为 因 将 要 能 可
""")
"""Words that show that a stretch between commas is a clause of its own."""

ANEW: Final = word_set("""
    only just merely rather instead simply 仅 只
""")
"""Words that turn from what was negated to what holds ("not stopped, only halted")."""

AFTER_AND: Final = word_set("""
    is are was were has have keeps remains still it you your the i we they that this so
    therefore continues stays runs its there
""")
"""Words that begin a new predicate after "and"."""

INDEFINITE: Final = word_set("""
    a an any every all each some most many such anyone everyone instances servers disks
    subscriptions customers users accounts resources orders snapshots machines people
    addresses eips stopped stopping prepaid unused expired locked 任 所 凡 每 某
""")
"""First words of a sentence about servers at large."""

IMPERATIVES: Final = word_set("""
    tell send give share provide specify name confirm state
""")
"""First words of a bare request for something."""

ANCHORS: Final = word_set("""
    your yours this my our 您 你 这 此
""")
"""Words that tie a sentence to this customer's case."""

GOING_ON: Final = word_set("or nor / 或 和 及")
"""After a phrase that holds a negation: what is joined to it is negated, too."""

BREAKS: Final = frozenset(",.;?!:()\n")
"""Signs that end a stretch of words."""

THAT: Final = word_set("this that which these those 这 那 该 此")
"""First words of a remark on what was just said."""

THE_SERVER: Final = word_set("""
    it this server instance machine 它 器 例
""")
"""The server whose charge is at issue."""

NEGATED_EVENT: Final = word_set("""
    charged billed charging billing charge bill pay paying paid happening happen due caused
    cause locked lock expired expire this that it for
""")
"""After "not", these name the problem itself: "not charged because A" denies A as its cause."""

STRIPPED: Final = word_set("""
    a an the your its our my - _ really actually just simply currently indeed already 的 了
""")
"""Words that are no part of a ticket's phrase."""

SKIPPED: Final = STRIPPED | word_set("it them also now only fully completely directly")
"""Words that may stand between the words of a ticket's phrase."""

SUPPORTING: Final = word_set("do does did 并")
DENYING: Final = SUPPORTING | word_set("not never 不 没 未")
"""Words that deny a phrase between whose words they stand, and words that come before them."""

PASSED_OVER: Final = SKIPPED | DENYING
"""Words that may stand after a phrase's first."""

ADVERBS: Final = word_set("""
    really actually just simply currently indeed already definitely certainly truly now 的 了
""")
"""Words that may stand between the words of a cue."""
